"""The pipeline that everyone writes, the one that keeps the promise, and an attack on both.

Customers of a shop are clustered at epsilon 1. Is one very rich customer among them? The attacker
knows everybody else, and looks at one number of the release: the highest income of a center.

Repeat with `python benchmarks/rich_customer.py`; it takes about ten seconds.
"""

from itertools import count

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shoal import DPKMeans, Number, Schema, SchemaEncoder, check_pipeline, epsilon_lower_bound
from shoal.audit import advantage_ceiling

INCOME = 1  # the column
SAMPLES = 200  # releases of each table; no bound can pass ln(SAMPLES / 15) = 2.6

# 400 customers: age and income, with gaps.
rng = np.random.default_rng(0)
segment = rng.integers(0, 3, 400)
age = rng.normal(np.array([25.0, 45.0, 70.0])[segment], 6.0)
income = rng.lognormal(np.log([25_000.0, 60_000.0, 35_000.0])[segment], 0.25)
customers = np.column_stack([age, income])
customers[rng.random(400) < 0.05, INCOME] = np.nan
with_rich_customer = np.vstack([customers, [52.0, 40_000_000.0]])

# Wrong: the first two steps read all records, and no noise hides what they learned.
wrong = make_pipeline(
    SimpleImputer(), StandardScaler(), DPKMeans(3, epsilon=1.0, bounds=(-3.0, 3.0))
)
# Right: what anyone may enter is known without looking.
schema = Schema([
    Number("age", minimum=0, maximum=120),
    Number("income", minimum=0, maximum=200_000),
])  # fmt: skip
right = make_pipeline(SchemaEncoder(schema), DPKMeans(3, epsilon=1.0, bounds=(0.0, 1.0)))

seeds = count()  # so that this page can be repeated; a release for others takes none


def highest_incomes(pipeline, column):
    """Return what the attacker looks at, in many releases of one table."""

    def releases(table, samples):
        seen = np.empty(samples)
        for number in range(samples):
            pipeline.set_params(dpkmeans__random_state=next(seeds)).fit(table)
            seen[number] = pipeline[-1].release_.values["centers"][:, column].max()
        return seen

    return releases


for name, pipeline in (("wrong", wrong), ("right", right)):
    print(f"--- {name} ---\n{check_pipeline(pipeline)}")
    column = INCOME if pipeline is wrong else schema.space.names.index("income")
    bound = epsilon_lower_bound(
        highest_incomes(pipeline, column), customers, with_rich_customer, samples=SAMPLES
    )
    guesses = 50 + 50 * abs(bound.p_first.value - bound.p_second.value)
    print(f"claimed epsilon 1; {bound}")
    print(f"the attacker is right in {guesses:.0f} of 100 guesses\n")
ceiling = advantage_ceiling(right[-1].guarantee_)
print(f"at epsilon 1 nobody can be right in more than {50 + 50 * ceiling:.0f} of 100")
