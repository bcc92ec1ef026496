#!/bin/sh
# What the chart asks of the image ghcr.io/ferretdb/postgres-documentdb, whose entry point is that of the official image
# postgres: a data folder in PGDATA, made at the first start with the superuser POSTGRES_USER, and arguments that begin
# with a dash are PostgreSQL's.
set -eu
umask 077
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  made=$PGDATA.new # in place only when complete: the container may be killed at any moment
  rm -rf "$made"
  printf '%s' "$POSTGRES_PASSWORD" >/tmp/password
  initdb -D "$made" -U "$POSTGRES_USER" --pwfile=/tmp/password --auth=trust \
    --encoding=UTF8 --locale=C.UTF-8
  rm /tmp/password
  cat >>"$made/postgresql.conf" <<'SETTINGS'
shared_preload_libraries = 'pg_cron,pg_documentdb_core,pg_documentdb'
cron.database_name = 'postgres'
SETTINGS
  echo 'host all all all scram-sha-256' >>"$made/pg_hba.conf" # who comes from the pod itself is trusted
  pg_ctl -D "$made" -w -o "-c listen_addresses=" start
  psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d postgres -c 'create extension documentdb cascade'
  pg_ctl -D "$made" -w -m fast stop
  mv "$made" "$PGDATA"
fi
exec postgres "$@"
