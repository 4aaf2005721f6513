import { describeCaseUpdatesContract } from '../contracts/case-updates.js';
import { describeCasesContract } from '../contracts/cases.js';
import { describeExportLogContract } from '../contracts/export-log.js';
import { describeHotelContentsContract } from '../contracts/hotel-contents.js';
import { describeMappingCopyContract } from '../contracts/mapping-copy.js';
import { describeNoticesContract } from '../contracts/notices.js';
import { describeWatchContract } from '../contracts/watch.js';
import { usePostgres } from '../support/use-servers.js';
import { openPostgresLedger } from './opened-postgres.js';

const postgres = usePostgres();
const open = () => openPostgresLedger(postgres());

describeMappingCopyContract('PostgreSQL', { open });
describeExportLogContract('PostgreSQL', { open });
describeHotelContentsContract('PostgreSQL', { open });
describeCasesContract('PostgreSQL', { open });
describeWatchContract('PostgreSQL', { open });
describeCaseUpdatesContract('PostgreSQL', { open });
describeNoticesContract('PostgreSQL', { open });
