/** The part of a logger that the server uses; pino's loggers fit. */
export interface ServerLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
