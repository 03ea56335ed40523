# %% [markdown]
"""
Segments of a mixed table
=========================

A shop describes its customers without describing any one of them. You learn how a schema declares
numbers, categories, dates and gaps in public, how one ledger pays for segments and for their
profile, and that the promise is made to people, not to rows.
"""

# %%
from shoal import ClusterProfile, DPKMeans, Ledger, load_release
from shoal.datasets import make_customers
from shoal.plotting import draw_profile
from shoal.privacy import PrivacyUnit

data = make_customers(20_000, random_state=0)  # made up: text, dates, gaps, several rows a person
schema = data.schema  # public: what each column may hold, and whose row it is
for name in ("age", "income", "city", "joined"):
    print(f"{name}: {data.table[name][:4].tolist()}")

# %% [markdown]
# The ledger protects people; at most two rows of each count. It is charged before anything is
# released, and refuses what would pass its limit.

# %%
person = PrivacyUnit.user("customer", max_rows=2)
ledger = Ledger(epsilon=2.0, privacy_unit=person, who="Ann")
model = DPKMeans(5, epsilon=1.0, schema=schema, records_per_user=2, ledger=ledger)
model.fit(data.table)
print(model.guarantee_)

profile = ClusterProfile(model.release_, epsilon=1.0, records_per_user=2, ledger=ledger)
profile.fit(data.table)
print("\n".join(profile.describe()))
print(ledger)

# %% [markdown]
# The release is enough to find the segment of a new customer, on another machine and months later.

# %%
segments = load_release(model.release_)  # or the path of a file
new = make_customers(5, random_state=1).table
print(f"segments of five new rows: {segments.predict(new)}")

# %% [markdown]
# The profile may be published, too: each row is a segment, each column a field.

# %%
picture = draw_profile(profile, fields=["age", "visits", "city"])
picture  # in a script: picture.save("segments.png")
