import { describeLedgerContract } from '../contracts/ledger.js';
import { usePostgres } from '../support/use-servers.js';
import { openPostgresLedger } from './opened-postgres.js';

const postgres = usePostgres();

describeLedgerContract('PostgreSQL', { open: () => openPostgresLedger(postgres()) });
