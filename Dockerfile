# One image, three programs: `docker run … herald apiserver.js`. It runs as nobody, on a read-only root file system. The
# programs are compiled already. A writable folder that is named in NODE_COMPILE_CACHE keeps what threads compile.
FROM node:24-slim AS all-packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund

FROM all-packages AS bundle
COPY tsconfig.json ./
COPY dev/bundle.ts dev/
COPY dev/bundle dev/bundle
COPY dev/files dev/files
COPY dev/processes dev/processes
COPY config config
COPY core core
COPY operator operator
COPY apiserver apiserver
COPY dispatcher dispatcher
RUN node dev/bundle.ts bundle

# The few packages that are not in the bundles, of the versions that are locked.
FROM node:24-slim AS packages
WORKDIR /app
COPY package-lock.json ./
COPY --from=bundle /app/bundle/package.json ./
RUN npm install --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-slim
LABEL org.opencontainers.image.title="herald" \
      org.opencontainers.image.description="Self-hosted, multi-tenant, multi-channel messaging service" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production
ENV MALLOC_ARENA_MAX=2
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY LICENSE ./
COPY --from=bundle /app/bundle ./
USER 65532:65532
EXPOSE 8080 9090
STOPSIGNAL SIGTERM
# How much memory a program takes: docs/operations.md.
ENTRYPOINT ["node", "--max-semi-space-size=16", "--heap-growing-percent=75", "--expose-gc"]
CMD ["apiserver.js"]
