# rollcall in a container: docs/install.md says how it is built and run.
FROM python:3.13-slim

# `pipeline` adds Spark and DuckDB, and Java for them.
ARG EXTRA=""
RUN if [ -n "$EXTRA" ]; then \
        apt-get update \
        && apt-get install --yes --no-install-recommends default-jre-headless procps \
        && rm -rf /var/lib/apt/lists/*; \
    fi
COPY pyproject.toml README.md LICENSE /source/
COPY src /source/src
RUN pip install --no-cache-dir "/source${EXTRA:+[$EXTRA]}" && rm -r /source

# What makes Spark start sooner the next time is of no use to a container that runs once.
ENV ROLLCALL_CACHE=""
RUN useradd --create-home --uid 1000 rollcall && install --directory --owner rollcall /data
USER rollcall
WORKDIR /data
ENTRYPOINT ["rollcall"]
