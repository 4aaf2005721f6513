import { describeLedgerContract } from '../contracts/ledger.js';
import { openSqliteLedger } from './opened-ledger.js';

describeLedgerContract('SQLite, encrypted', {
  open: () => openSqliteLedger({ isEncrypted: true, hashKey: 'a key of the tests' }),
});
