import { SourceError } from '../../review/source.js';
import {
  createDatabaseFault,
  type DatabaseReason,
  isCertificateFault,
  readErrorCode,
} from './database-fault.js';

/** Explains an error of the driver without quoting its message. */
export function explainMysqlError(error: unknown, where: string, isReading: boolean): unknown {
  if (error instanceof SourceError || !(error instanceof Error)) return error;
  const code = readErrorCode(error) ?? 'connection lost';
  const number = 'errno' in error && typeof error.errno === 'number' ? error.errno : undefined;
  // Numbers below 1,000, such as the negative ones of the system, are not the server's.
  if (number === undefined || number < 1_000) {
    if (code === 'HANDSHAKE_SSL_ERROR' || isCertificateFault(code))
      return createDatabaseFault('certificate-untrusted', where, code);
    if (code === 'HANDSHAKE_NO_SSL_SUPPORT') return createDatabaseFault('no-tls', where, code);
    return createDatabaseFault(isReading ? 'lost' : 'unreachable', where, code);
  }
  const reason = reasons.get(number) ?? 'failed';
  return createDatabaseFault(
    reason === 'unreachable' && isReading ? 'lost' : reason,
    where,
    code.startsWith('ER_') ? `${number} ${code}` : String(number),
  );
}

/** The server's error numbers. */
const numbers: { readonly [reason in DatabaseReason]?: readonly number[] } = {
  'login-refused': [1044, 1045, 1130, 1251, 1698, 2061],
  'no-database': [1046, 1049],
  'no-permission': [1142, 1143, 1227, 1370],
  'would-write': [1290, 1792, 1836],
  'too-slow': [1969, 3024],
  unreachable: [1040, 1053, 1077, 1080, 1152, 1153, 1158, 1159, 1160, 1161, 1203, 1927],
  cancelled: [1317],
  'query-wrong': [1052, 1054, 1064, 1109, 1146, 1210, 1222, 1267, 1295, 1305, 1630],
};
const reasons = new Map(
  Object.entries(numbers).flatMap(([reason, list]) =>
    list.map((number) => [number, reason as DatabaseReason] as const),
  ),
);
