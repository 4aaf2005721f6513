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
  const reason = readReason(number) ?? 'failed';
  return createDatabaseFault(
    reason === 'unreachable' && isReading ? 'lost' : reason,
    where,
    code.startsWith('ER_') ? `${number} ${code}` : String(number),
  );
}

function readReason(number: number): DatabaseReason | undefined {
  switch (number) {
    case 1044:
    case 1045:
    case 1130:
    case 1251:
    case 1698:
    case 2061:
      return 'login-refused';
    case 1046:
    case 1049:
      return 'no-database';
    case 1142:
    case 1143:
    case 1227:
    case 1370:
      return 'no-permission';
    case 1290:
    case 1792:
    case 1836:
      return 'would-write';
    case 1969:
    case 3024:
      return 'too-slow';
    case 1040:
    case 1053:
    case 1077:
    case 1080:
    case 1152:
    case 1153:
    case 1158:
    case 1159:
    case 1160:
    case 1161:
    case 1203:
    case 1927:
      return 'unreachable';
    case 1317:
      return 'cancelled';
    case 1052:
    case 1054:
    case 1064:
    case 1109:
    case 1146:
    case 1210:
    case 1222:
    case 1267:
    case 1295:
    case 1305:
    case 1630:
      return 'query-wrong';
    default:
      return undefined;
  }
}
