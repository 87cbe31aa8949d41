import type { PayableStatus } from '../../config/payables.ts'
import { notFound, versionConflict } from '../../config/errors.ts'
import type { Event } from '../../config/events/event.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit, emitAll } from '../lib/events.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { insertLater } from '../lib/records.ts'
import { PayableHistory } from './models.ts'
import type { PayableRecord } from './models.ts'

export const payableMoves = lifecycle<PayableStatus>('A bill')({
  changed: { from: ['draft', 'approved', 'partly_paid', 'paid'] },
  submitted: { from: ['draft'], to: 'awaiting_approval' },
  approved: { from: ['awaiting_approval'], to: 'approved' },
  rejected: { from: ['awaiting_approval'], to: 'draft' },
  voided: { from: ['draft', 'awaiting_approval', 'approved'], to: 'void' },
})

/** Locks a bill, and compares the version that its reader saw. 404, 409 `version_conflict`. */
export const lockPayable = async (trx: Trx, id: string, expected: number | null = null): Promise<PayableRecord> => {
  const row = await sqlOne<PayableRecord>(
    trx,
    `select * from payable where tenant_id = ? and id = ? for no key update`,
    [contextOf(trx).tenantId, id],
  )
  if (!row) throw notFound()
  if (expected !== null && row.version !== expected) throw versionConflict(row.version)
  return row
}

/** Writes a step of a bill into its history, with the next statement. */
export const note = (
  trx: Trx,
  payableId: string,
  step: { command: string; from: PayableStatus | null; to: PayableStatus; reason?: string | null; changes?: object },
): void => {
  const { actor, requestId } = contextOf(trx)
  insertLater(trx, PayableHistory, {
    payableId,
    command: step.command,
    fromStatus: step.from,
    toStatus: step.to,
    changes: step.changes ?? {},
    reason: step.reason ?? null,
    actor,
    requestId,
  })
}

type Told = {
  id: string
  propertyId: string | null
  version: number
  kind: PayableRecord['kind']
  supplierId: string | null
  total: number
  open: number
  currency: string
  dueOn: string | null
}

const factOf = ({ id, propertyId, version, open, ...told }: Told) => ({
  propertyId,
  id,
  version,
  data: {
    payableId: id,
    kind: told.kind,
    supplierId: told.supplierId,
    total: told.total,
    openAmount: open,
    currency: told.currency,
    dueOn: told.dueOn,
    propertyId,
  },
})

/** Bills as events tell of them, with the first day on which something is due. */
const toldOf = (trx: Trx, ids: readonly string[]) =>
  sql<Told>(
    trx,
    `select p.id, p.property_id, p.version, p.kind, p.supplier_id, p.total, p.open, p.currency,
       (select min(i.due_on) from payable_installment i where i.tenant_id = p.tenant_id and i.payable_id = p.id and i.open > 0) as due_on
     from payable p where p.tenant_id = ? and p.id = any(?::uuid[]) order by p.id`,
    [contextOf(trx).tenantId, ids],
  )

/** Tells of a bill as it stands now. */
export const tell = async (trx: Trx, event: Event, id: string): Promise<void> => {
  for (const told of await toldOf(trx, [id])) await emit(trx, event, factOf(told))
}

/** Tells of bills as they stand now, in few statements. */
export const tellAll = async (trx: Trx, event: Event, ids: readonly string[]): Promise<void> => {
  await emitAll(trx, event, (await toldOf(trx, ids)).map(factOf))
}
