/** Where the server writes what its operator should know; pino's loggers are one. */
export interface ServerLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
