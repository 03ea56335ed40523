"""Run ``python -m shoal.client``."""

import sys

from shoal.client.commands import main

sys.exit(main())
