import { randomUUID } from 'node:crypto'
import { conflict, invalid } from '../../../config/errors.ts'
import {
  supplierBankDetailsApproved,
  supplierBankDetailsProposed,
  supplierBankDetailsRejected,
} from '../../../config/events/accounts-payable.ts'
import { normalBankDetails, normalDocument } from '../../documents/index.ts'
import type { BankDetails } from '../../documents/index.ts'
import { approverOf, authorOf } from '../../lib/authors.ts'
import { audit } from '../../lib/audit.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow, expression, insertRow } from '../../lib/records.ts'
import { seal, unseal } from '../../lib/sealing/index.ts'
import { SupplierBankDetails } from '../models.ts'
import { policyOf } from '../policy.ts'
import { noticeRoles } from '../../ocp/index.ts'
import { noticeSupplier } from './notice.ts'
import { moves, lockSupplier, tellSupplier } from './suppliers.ts'
import type { SupplierRecord } from './suppliers.ts'

export type GivenBankDetails = {
  details: BankDetails
  /** The supplier itself unless said. */
  holderName?: string | undefined
  holderDocument?: string | null | undefined
  thirdPartyReason?: string | undefined
}
type Sealed = { details: BankDetails; holderName: string; holderDocument: string | null }
type Row = NonNullable<(typeof SupplierBankDetails)['row']>
/** One version of bank details, opened. */
export type BankDetailsShown = Sealed & {
  id: string
  version: number
  thirdPartyReason: string | null
  proposedBy: string
  approvedBy: string | null
  approvedAt: Date | null
  usableFrom: Date | null
  selfApproved: boolean
}

/** Both steps are told to owner and finance, and to the supplier. */
const watchers = ['owner', 'finance'] as const
const kind = 'bank_details_changed'

const place = (rowId: string) => ({ table: 'supplier_bank_details', rowId, purpose: 'bank_details' })

/**
 * Proposes bank details of a supplier, whose row the caller holds. They replace what was proposed before, and never what is in use (R3). 400 where another than
 * the supplier holds the account and no reason is given.
 */
export const proposeBankDetails = async (
  trx: Trx,
  supplier: SupplierRecord,
  given: GivenBankDetails,
): Promise<void> => {
  moves.allow('changed', supplier.status)
  const details = normalBankDetails(given.details, 'bankDetails.details')
  const sent = given.holderDocument
  const holderDocument = sent
    ? normalDocument(supplier.countryCode, sent, 'bankDetails.holderDocument')
    : supplier.document
  if (holderDocument !== supplier.document && !given.thirdPartyReason)
    throw invalid([
      { field: 'bankDetails.thirdPartyReason', message: 'is required where the holder is not the supplier' },
    ])
  const id = randomUUID()
  const { tenantId } = contextOf(trx)
  await sql(
    trx,
    `update supplier_bank_details set status = 'replaced', decided_at = now() where tenant_id = ? and supplier_id = ? and status = 'proposed'`,
    [tenantId, supplier.id],
  )
  const last = await sqlOne<{ number: number }>(
    trx,
    `select coalesce(max(number), 0) as number from supplier_bank_details where tenant_id = ? and supplier_id = ?`,
    [tenantId, supplier.id],
  )
  const sealed: Sealed = { details, holderName: given.holderName ?? supplier.legalName, holderDocument }
  await insertRow(trx, SupplierBankDetails, {
    id,
    supplierId: supplier.id,
    number: (last?.number ?? 0) + 1,
    sealed: await seal(trx, 'tenant', place(id), sealed),
    thirdPartyReason: given.thirdPartyReason ?? null,
    proposedBy: await authorOf(trx),
  })
  await audit(trx, { action: 'supplier.propose_bank_details', subjectType: 'Supplier', subjectId: supplier.id })
  await tellSupplier(trx, supplierBankDetailsProposed, supplier.id, supplier.version)
  await noticeRoles(trx, watchers, { kind, reference: `${id} proposed`, key: supplier.legalName })
  await noticeSupplier(trx, supplier, `${id}-proposed`)
}

/**
 * Decides on bank details that another person proposed. 409 `version_conflict` unless `number` is the pending one; 403 `self_approval`. Approved ones are in use
 * from the end of the wait on, which the policy of the default book says.
 */
export const decideBankDetails = async (
  trx: Trx,
  supplierId: string,
  { number, decision, note }: { number: number; decision: 'approve' | 'reject'; note?: string | undefined },
  expected: number | null,
): Promise<void> => {
  const supplier = await lockSupplier(trx, supplierId, expected)
  const { tenantId } = contextOf(trx)
  const pending = await sqlOne<Row & { singleOperator: boolean; bookId: string }>(
    trx,
    `select d.*, b.single_operator, b.id as book_id from supplier_bank_details d
     join book b on b.tenant_id = d.tenant_id and b.is_default where d.tenant_id = ? and d.supplier_id = ? and d.status = 'proposed' for no key update of d`,
    [tenantId, supplierId],
  )
  if (!pending || pending.number !== number)
    throw conflict('version_conflict', 'These bank details are not the pending ones', [
      { field: 'version', message: pending ? `the pending version is ${pending.number}` : 'nothing is pending' },
    ])
  const authors = decision === 'approve' ? [pending.proposedBy] : []
  const approval = approverOf(trx, { authors, singleOperator: pending.singleOperator })
  const { coolOffHours } = await policyOf(trx, pending.bookId)
  await changeRow(trx, SupplierBankDetails, pending.id, {
    status: decision === 'approve' ? 'approved' : 'rejected',
    decidedBy: approval.approvedBy,
    decidedAt: expression('now()'),
    selfApproved: approval.selfApproved,
    note: note ?? null,
    ...(decision === 'approve' ? { usableFrom: expression('now() + make_interval(hours => ?)', coolOffHours) } : {}),
  })
  await audit(trx, { action: `supplier.${decision}_bank_details`, subjectType: 'Supplier', subjectId: supplierId })
  const event = decision === 'approve' ? supplierBankDetailsApproved : supplierBankDetailsRejected
  await tellSupplier(trx, event, supplierId, supplier.version)
  await noticeRoles(trx, watchers, { kind, reference: `${pending.id} decided`, key: supplier.legalName })
  await noticeSupplier(trx, supplier, `${pending.id}-decided`)
}

const shown = async (trx: Trx, row: Row): Promise<BankDetailsShown> => ({
  ...(await unseal<Sealed>(trx, 'tenant', place(row.id), row.sealed)),
  id: row.id,
  version: row.number,
  thirdPartyReason: row.thirdPartyReason,
  proposedBy: row.proposedBy,
  approvedBy: row.decidedBy,
  approvedAt: row.status === 'approved' ? row.decidedAt : null,
  usableFrom: row.usableFrom,
  selfApproved: row.selfApproved,
})

/**
 * SQL: the bank details to which the supplier of a record is paid: of those approved the latest whose wait is over, and while there are none, the latest. New ones
 * take the place of those in use once their wait is over (R3).
 */
export const detailsInUse = (record: string, supplierId = `${record}.supplier_id`): string =>
  `(select d.id, d.usable_from from supplier_bank_details d where d.tenant_id = ${record}.tenant_id and d.supplier_id = ${supplierId} and d.status = 'approved'
     order by d.usable_from <= now() desc, d.number desc limit 1)`

type BankDetailsOf = {
  /** To which money goes now. */
  bankDetails: BankDetailsShown | null
  /** Those that wait for a decision. */
  pendingBankDetails: BankDetailsShown | null
  /** Those approved last, while they wait. */
  waitingBankDetails: BankDetailsShown | null
}

/** The bank details of a supplier in use, those approved whose wait is not over, and those that wait for a decision. */
export const bankDetailsOf = async (trx: Trx, supplierId: string): Promise<BankDetailsOf> => {
  const rows = await sql<Row & { is: 'in_use' | 'waiting' | 'proposed' }>(
    trx,
    `select distinct on ("is") * from (
       select d.*, case when d.status = 'proposed' then 'proposed' when d.usable_from <= now() then 'in_use' else 'waiting' end as "is"
       from supplier_bank_details d where d.tenant_id = ? and d.supplier_id = ? and d.status in ('approved', 'proposed')) x
     order by "is", number desc`,
    [contextOf(trx).tenantId, supplierId],
  )
  const row = (is: 'in_use' | 'waiting' | 'proposed') => rows.find((each) => each.is === is)
  const one = async (found: Row | undefined) => (found ? shown(trx, found) : null)
  const [inUse, waiting] = [row('in_use'), row('waiting')]
  // Details that were approved before those in use, and wait longer, never come into use.
  const isNext = waiting !== undefined && (inUse === undefined || waiting.number > inUse.number)
  return {
    bankDetails: await one(inUse),
    pendingBankDetails: await one(row('proposed')),
    waitingBankDetails: isNext ? await one(waiting) : null,
  }
}

/** One version of bank details that was approved, with the name and number of its holder. Null where it is not usable. */
export const usableDetails = async (trx: Trx, id: string): Promise<BankDetailsShown | null> => {
  const row = await sqlOne<Row>(
    trx,
    `select * from supplier_bank_details where tenant_id = ? and id = ? and status = 'approved' and usable_from <= now()`,
    [contextOf(trx).tenantId, id],
  )
  return row ? shown(trx, row) : null
}
