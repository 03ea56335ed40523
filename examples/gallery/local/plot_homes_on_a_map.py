# %% [markdown]
"""
Homes on a map
==============

Each phone blurs its own home before anything leaves it, a server clusters the blurred places, and
each phone finds its own cluster. You learn how to ask for "much the same within 2 kilometers", and
that neighborhoods show through noise that hides every home.
"""

# %%
from sklearn.metrics import adjusted_rand_score

from shoal import NoiseAwareKMeans, Place, PlanarLaplace, Schema, label_on_device
from shoal.datasets import make_gaussians
from shoal.plotting import draw_scatter

people = make_gaussians(4_000, n_clusters=4, bounds=(-7.0, 7.0), random_state=1)  # km, made up
city = Place(  # public: a disc of 12 km around the market square
    "home", longitude="lon", latitude="lat", center=(24.94, 60.17), radius=12.0, missing="refuse"
)
schema = Schema([city])
lon, lat = city.unproject(people.X).T
homes = {"lon": lon, "lat": lat}

# %% [markdown]
# On 4,000 phones: within 2 kilometers a report says little about which home is the true one. The
# promise weakens with distance, and the sentence says in which unit.

# %%
phone = PlanarLaplace(level=1.0, radius=2.0, schema=schema)
reports = phone.fit_transform(homes)
print(phone.guarantee_)

# %% [markdown]
# On the server: reports only, so whatever it does costs nothing more. Then back on each phone: the
# nearest published center of the true home, which stays there.

# %%
model = NoiseAwareKMeans(4, mechanism=phone).fit(reports)
labels = label_on_device(model.release_, homes)
print(f"agreement with the truth: adjusted Rand index {adjusted_rand_score(people.y, labels):.2f}")

# %% [markdown]
# Homes can be drawn here because they are made up; real ones would never leave their phones.

# %%
in_km = {"homes": people.X, "reports": (reports - 0.5) * city.kilometers}
centers = dict.fromkeys(in_km, (model.cluster_centers_ - 0.5) * city.kilometers)
columns = ["east of the square (km)", "north of the square (km)"]
picture = draw_scatter(in_km, centers=centers, columns=columns)
picture  # in a script: picture.save("homes.png")
