# Two images: for production (the default), and with --target=trial one that also has the sandbox.
# `npm run pin-images` adds the digests of the tags.
FROM node:24.19.0-trixie-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json bundle.js ./
# What `--version` says: --build-arg BUILT_FROM="$(git log -1 --abbrev=8 --format='%h, %cs')"
ARG BUILT_FROM=
COPY src src
COPY jobs jobs
RUN npm run build && mv dist trial && npm run build -- --without-sandbox
COPY ops/sbom.js ops/
# SQLite's package has builds for two C libraries, and this image needs only one. A third of the packages' space is source maps
# and types, which nothing reads here. The package and licence lists go into the image.
RUN npm prune --omit=dev --ignore-scripts \
 && rm -rf node_modules/@libsql/*-musl \
 && find node_modules '(' -name '*.map' -o -name '*.d.[mc]ts' -o -name '*.d.ts' ')' -delete \
 && npm pkg delete devDependencies \
 && node ops/sbom.js --out=sbom

# Without npm and the other tools of Node's image. (From version 26 on, Node also needs libatomic1.)
FROM debian:trixie-20260803-slim AS runtime
COPY --from=build /usr/local/bin/node /usr/local/bin/
# The user `node`, 1000.
COPY --from=build /etc/passwd /etc/group /etc/
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/sbom ./
COPY package.json LICENSE ./
# A configuration that `init` writes refers to these.
COPY schema/1.json schema/
COPY docs/sources.md docs/
COPY examples/bookings.mjs examples/
# A mount point: a new volume inherits the owner of the folder it covers.
RUN install -d -m 0700 -o 1000 -g 1000 /data
# The configuration is expected here; relative paths in it are relative to this folder.
WORKDIR /data
# The port of `serve`. For `work`, set it to the port of `work --port`; for `run` and other commands, use --no-healthcheck.
ENV HOTEL_REVIEW_HEALTH_PORT=8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.HOTEL_REVIEW_HEALTH_PORT + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Process 1 handles SIGTERM itself and waits for the processes that it starts, so no init is needed.
# Limits the semi-space to 16 MB, as in Node 20: Node 24's default, twice as much, is slower here and takes 30 to 70 MB more.
ENTRYPOINT ["node", "--max-semi-space-size=16", "/app/dist/jobs/hotel-review.js"]
CMD ["--help"]

FROM runtime AS trial
COPY --from=build /build/trial /app/dist
RUN install -d -m 0700 -o 1000 -g 1000 /sandbox
# By number, so that Kubernetes can verify that it is not root.
USER 1000:1000

FROM runtime AS production
COPY --from=build /build/dist /app/dist
USER 1000:1000
