# dlmtest and the servers that it tests, for --runtime local in a pod or a CI job: no Docker daemon is needed.
# The context is a folder with PLATFORM/dlmtest, as linux/amd64/dlmtest. `make image` builds it of this tree; a base that has
# the servers already, as the one that dlmtest makes where nothing can be pulled, is given by --build-arg BASE.
ARG BASE=debian:bookworm-slim
FROM ${BASE}
ARG TARGETPLATFORM
RUN (command -v redis-server && command -v etcd && command -v etcdctl && command -v java && command -v ps && test -e /usr/share/java/zookeeper.jar \
     && test -x /usr/lib/postgresql/15/bin/postgres) >/dev/null || \
    (mkdir -p /usr/share/man/man1 && apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
     redis-server etcd-server etcd-client libzookeeper-java openjdk-17-jre-headless postgresql-15 procps && rm -rf /var/lib/apt/lists/*)
COPY ${TARGETPLATFORM}/dlmtest /usr/local/bin/dlmtest
CMD ["dlmtest"]
