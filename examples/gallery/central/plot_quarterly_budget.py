# %% [markdown]
"""
A year of quarterly releases
============================

Customers are clustered every quarter, and the same people are in the table each time. You learn how
one ledger adds up what a year of releases costs a person, and that it refuses the release that
would pass the limit before anything is computed.
"""

# %%
from shoal import DPKMeans, Ledger
from shoal.datasets import make_gaussians
from shoal.exceptions import BudgetExceededError
from shoal.metrics import cost_ratio
from shoal.plotting import draw_bars

LIMIT = 1.0  # what the board decided for a year
ledger = Ledger(epsilon=LIMIT, table="customers", who="Ann")
rows = []

# %% [markdown]
# Four releases at a quarter of the budget each; then somebody asks for a fifth.

# %%
for quarter in range(1, 6):
    data = make_gaussians(20_000, n_clusters=4, random_state=quarter)
    model = DPKMeans(4, epsilon=0.25, bounds=data.bounds, ledger=ledger)
    try:
        model.fit(data.X)
    except BudgetExceededError as refused:
        print(f"release {quarter} refused: {refused}")
        name = f"{quarter} (refused)"
    else:
        name = f"release {quarter}"
        # Measured on the records themselves: for the curator's eyes only.
        cost = cost_ratio(data.X, model.cluster_centers_)
        print(f"release {quarter}: cost {cost:.2f} times that of plain k-means")
        if quarter == 1:
            print(model.guarantee_)
    rows.append({"release": name, "spent": LIMIT * ledger.used, "mechanism": "spent so far"})

# %% [markdown]
# The ledger's own sentence holds for all four releases together.

# %%
print(ledger)
picture = draw_bars(
    rows,
    value="spent",
    sets="release",
    value_label="epsilon spent on a person",
    reference={"limit of the year": LIMIT},
)
picture  # in a script: picture.save("budget.png")
