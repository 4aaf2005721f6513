import { describeCaseUpdatesContract } from '../contracts/case-updates.js';
import { describeCasesContract } from '../contracts/cases.js';
import { describeExportLogContract } from '../contracts/export-log.js';
import { describeHotelContentsContract } from '../contracts/hotel-contents.js';
import { describeMappingCopyContract } from '../contracts/mapping-copy.js';
import { describeNoticesContract } from '../contracts/notices.js';
import { describeWatchContract } from '../contracts/watch.js';
import { openSqliteLedger } from './opened-ledger.js';

describeMappingCopyContract('SQLite', { open: openSqliteLedger });
describeExportLogContract('SQLite', { open: openSqliteLedger });
describeHotelContentsContract('SQLite', { open: openSqliteLedger });
describeCasesContract('SQLite', { open: openSqliteLedger });
describeWatchContract('SQLite', { open: openSqliteLedger });
describeCaseUpdatesContract('SQLite', { open: openSqliteLedger });
describeNoticesContract('SQLite', { open: openSqliteLedger });
