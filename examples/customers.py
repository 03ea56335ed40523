"""A shop's customers, from a CSV file to segments that anybody may read about.

Run: python examples/customers.py
"""

from pathlib import Path
from tempfile import mkdtemp

import pandas as pd

from shoal import ClusterProfile, DPKMeans, Ledger, Schema, load_release
from shoal.datasets import make_customers
from shoal.privacy import PrivacyUnit

folder = Path(mkdtemp())
data = make_customers(20_000, random_state=0)
file = data.to_csv(folder / "customers.csv")  # text, dates, gaps, several rows a person
data.schema.save(folder / "schema.json")  # public: what each column may hold

table, schema = pd.read_csv(file), Schema.load(folder / "schema.json")
person = PrivacyUnit.user("customer", max_rows=2)  # whom the limit protects
ledger = Ledger(epsilon=2.0, privacy_unit=person)

# The schema says whose row is whose: the promise is to people, two rows of each count.
model = DPKMeans(5, epsilon=1.0, schema=schema, records_per_user=2, ledger=ledger).fit(table)
print(model.guarantee_)

profile = ClusterProfile(model.release_, epsilon=1.0, records_per_user=2, ledger=ledger)
profile.fit(table)
print("\n".join(profile.describe()))
model.release_.save(folder / "release.json")

# Later, elsewhere, with nothing but the release:
clusters = load_release(folder / "release.json")
new = make_customers(5, random_state=1).table
print(f"segments of five new customers: {clusters.predict(new)}")
print(f"{ledger}\nall files: {folder}")
