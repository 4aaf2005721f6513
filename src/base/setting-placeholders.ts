/** What `init` writes for unknown values. Each is valid in a configuration, and no server accepts it. */
export const placeholder = {
  word: 'change-me',
  baseUrl: 'https://service.example.com/api/3.0',
  host: 'sftp.example.com',
  hostKey: `SHA256:${'A'.repeat(43)}`,
  database: 'postgres://reader:change-me@db.example.com:5432/hotel?sslmode=verify-full',
  mysql: 'mysql://reader:change-me@db.example.com:3306/hotel?sslmode=verify-full',
  query: 'SELECT * FROM change_me WHERE booked_at >= :dayStart AND booked_at < :dayEnd',
  bucketPath: 's3://change-me/bookings-{day}.csv',
  serverPath: 'sftp://sftp.example.com/bookings-{day}.csv',
  api: 'https://api.example.com/bookings?from={dayStart}&to={dayEnd}',
};

const placeholders: ReadonlySet<unknown> = new Set([
  ...Object.values(placeholder),
  `Bearer ${placeholder.word}`,
]);

export const isPlaceholder = (value: unknown): boolean => placeholders.has(value);
