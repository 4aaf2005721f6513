import { describeLedgerContract } from '../contracts/ledger.js';
import { usePostgres } from '../support/suite-postgres.js';
import { openPostgresLedger } from './opened-postgres.js';

const postgres = usePostgres();

describeLedgerContract('PostgreSQL', { open: () => openPostgresLedger(postgres()) });
