# The collector's server: `shoal collect serve`. See docs/deploy.md.
ARG PYTHON=3.13

FROM python:${PYTHON}-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
COPY clients/js/src clients/js/src
RUN python -m venv /opt/shoal && /opt/shoal/bin/pip install ".[serve,arrow]"

FROM python:${PYTHON}-slim-bookworm
# No right to anything but /data; a number, so that orchestrators can check that it is not root.
RUN useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin shoal \
  && install -d -o shoal -g shoal -m 0700 /data
COPY --from=build /opt/shoal /opt/shoal
COPY --chmod=0555 deploy/start /usr/local/bin/start
# Nothing is written outside /data and /tmp: the root may be read-only.
ENV PATH=/opt/shoal/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 SHOAL_DB=/data/reports.db
WORKDIR /data
VOLUME /data
EXPOSE 8000
USER 10001:10001
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["start"]
CMD ["shoal", "collect", "serve", "--host", "0.0.0.0", "--port", "8000"]
