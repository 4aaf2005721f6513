/** What `init` writes for unknown values. Each is valid in a configuration, and no server accepts it. */
export const unknownWord = 'change-me';
export const unknownBaseUrl = 'https://service.example.com/api/3.0';
export const unknownHost = 'sftp.example.com';
export const unknownHostKey = `SHA256:${'A'.repeat(43)}`;
export const unknownDatabase = 'postgres://reader:change-me@db.example.com:5432/hotel?sslmode=verify-full';
export const unknownQuery = 'SELECT * FROM change_me WHERE booked_at >= :dayStart AND booked_at < :dayEnd';
export const unknownBucketPath = 's3://change-me/bookings-{day}.csv';
export const unknownServerPath = 'sftp://sftp.example.com/bookings-{day}.csv';
export const unknownMysql = 'mysql://reader:change-me@db.example.com:3306/hotel?sslmode=verify-full';
export const unknownApi = 'https://api.example.com/bookings?from={dayStart}&to={dayEnd}';

const placeholders: ReadonlySet<unknown> = new Set([
  unknownWord,
  `Bearer ${unknownWord}`,
  unknownBaseUrl,
  unknownHost,
  unknownHostKey,
  unknownDatabase,
  unknownMysql,
  unknownQuery,
  unknownApi,
  unknownBucketPath,
  unknownServerPath,
]);

export const isPlaceholder = (value: unknown): boolean => placeholders.has(value);
