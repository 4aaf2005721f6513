FROM node:20.20-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json bundle.js ./
COPY src src
COPY jobs jobs
# SQLite ships builds for two C libraries; this image has only one of them.
RUN npm run build \
 && npm prune --omit=dev --ignore-scripts \
 && rm -rf node_modules/@libsql/*-musl

FROM node:20.20-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY package.json hotel-review.schema.json LICENSE ./
# Mount points: a new volume inherits the owner of the folder it covers. /sandbox is for `hotel-review sandbox`.
RUN install -d -m 0700 -o 1000 -g 1000 /data /sandbox

# The image's user `node`, by number, so that Kubernetes can verify that it is not root.
USER 1000:1000
# The configuration is expected here; its relative paths are relative to it.
WORKDIR /data
# The port of `serve`; set it to the port of `work --port`. For `run` and others use --no-healthcheck.
ENV HOTEL_REVIEW_HEALTH_PORT=8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.HOTEL_REVIEW_HEALTH_PORT + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Process 1 handles SIGTERM itself and starts no other processes, so no init is needed.
ENTRYPOINT ["node", "/app/dist/jobs/hotel-review.js"]
CMD ["--help"]
