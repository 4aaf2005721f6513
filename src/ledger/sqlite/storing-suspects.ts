import type { CollectedBatch } from '../../review/collected.js';
import { countSuspects } from '../stored-suspect.js';
import type { Database } from './database.js';

/** Stores a chunk's suspects and counts them; where the run compares nothing, its counts stay absent. */
export function storeSuspects(database: Database, run: number, batches: readonly CollectedBatch[]): void {
  const { suspects, filledIn } = countSuspects(batches);
  if (suspects + filledIn === 0) return;
  for (const { form, number, suspects = [] } of batches) {
    for (const { place, reason, serviceId, movedAt } of suspects) {
      database.run(
        `INSERT INTO suspects (run, form, batch, place, reason, service_id, moved_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        run,
        form,
        number,
        place,
        reason,
        serviceId ?? null,
        movedAt ?? null,
      );
    }
  }
  database.run(
    'UPDATE runs SET suspects = suspects + ?, filled_in = filled_in + ? WHERE number = ?',
    suspects,
    filledIn,
    run,
  );
}
