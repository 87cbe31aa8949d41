import { randomUUID } from 'node:crypto'
import { conflict, invalid, notFound, unprocessable, versionConflict } from '../../../config/errors.ts'
import {
  supplierArchived,
  supplierChanged,
  supplierCreated,
  supplierRestored,
} from '../../../config/events/accounts-payable.ts'
import {
  changedContacts,
  checkContacts,
  normalDocument,
  openContacts,
  sealContacts,
  searchOfParty,
} from '../../documents/index.ts'
import type { PartyContactsChange } from '../../documents/index.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit, sentFields } from '../../lib/events.ts'
import type { Event } from '../../../config/events/event.ts'
import { archivable } from '../../lib/lifecycle.ts'
import { changeRow, insertRow } from '../../lib/records.ts'
import { Supplier } from '../models.ts'

export const moves = archivable('A supplier')
export type SupplierRecord = NonNullable<(typeof Supplier)['row']>

export type SupplierFields = PartyContactsChange & {
  legalName: string
  tradeName?: string | undefined
  countryCode?: string | undefined
  document?: string | null | undefined
  stateRegistration?: string | undefined
  cityRegistration?: string | undefined
  termDays?: number | undefined
  accountId?: string | null | undefined
  costCenterId?: string | null | undefined
  withholdingTaxCodeIds?: string[] | undefined
  paymentsBlocked?: boolean | undefined
  blockReason?: string | null | undefined
  notes?: string | undefined
}

export const tellSupplier = (trx: Trx, event: Event, supplierId: string, version: number | null, sent: object = {}) =>
  emit(trx, event, {
    propertyId: null,
    id: supplierId,
    version,
    data: { supplierId },
    changed: sentFields(Object.fromEntries(Object.keys(sent).map((field) => [field, null]))),
  })

/** Refuses accounts, cost centres and tax codes that there are not: 422 `reference_not_found`. */
const refuseStrangers = async (trx: Trx, fields: Partial<SupplierFields>): Promise<void> => {
  const { accountId, costCenterId, withholdingTaxCodeIds = [] } = fields
  const found = await sqlOne<{ account: boolean; center: boolean; codes: string[] }>(
    trx,
    `select exists (select from account where tenant_id = :tenantId and id = cast(:accountId as uuid) and postable and control is null) as account,
       exists (select from cost_center where tenant_id = :tenantId and id = cast(:costCenterId as uuid)) as center,
       array(select id from tax_code where tenant_id = :tenantId and kind = 'withheld_from_suppliers' and id = any(cast(:codes as uuid[]))) as codes`,
    {
      tenantId: contextOf(trx).tenantId,
      accountId: accountId ?? null,
      costCenterId: costCenterId ?? null,
      codes: withholdingTaxCodeIds,
    },
  )
  const errors = [
    ...(accountId && !found?.account ? [{ field: 'accountId', message: 'is no account that bills can name' }] : []),
    ...(costCenterId && !found?.center ? [{ field: 'costCenterId', message: 'is no cost centre' }] : []),
    ...withholdingTaxCodeIds.flatMap((id, index) =>
      found?.codes.includes(id)
        ? []
        : [{ field: `withholdingTaxCodeIds.${index}`, message: 'is no code of kind withheld_from_suppliers' }],
    ),
  ]
  if (errors.length > 0) throw unprocessable('reference_not_found', 'A record does not exist', errors)
}

/** Those with one number take turns, so that the second is told of the first. 409 `duplicate_supplier`. */
const refuseTwin = async (trx: Trx, countryCode: string, document: string | null, self: string | null) => {
  if (document === null) return
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended('supplier ' || ?, 90))`, [
    `${contextOf(trx).tenantId ?? ''} ${countryCode} ${document}`,
  ])
  const twin = await sqlOne<{ id: string }>(
    trx,
    `select id from supplier where tenant_id = ? and country_code = ? and document = ? and id is distinct from cast(? as uuid)`,
    [contextOf(trx).tenantId, countryCode, document, self],
  )
  if (twin)
    throw conflict('duplicate_supplier', 'Another supplier has this tax number', [
      { field: 'document', message: `is that of supplier ${twin.id}` },
    ])
}

const blockOf = (
  { paymentsBlocked, blockReason }: Partial<SupplierFields>,
  before: { paymentsBlocked: boolean; blockReason: string | null },
) => {
  const isBlocked = paymentsBlocked ?? before.paymentsBlocked
  const reason = isBlocked ? (blockReason === undefined ? before.blockReason : blockReason) : null
  if (isBlocked && !reason) throw invalid([{ field: 'blockReason', message: 'is required where payments are blocked' }])
  return { paymentsBlocked: isBlocked, blockReason: reason }
}

const none = { email: null, phone: null, address: null, contacts: [] }

/** Adds a supplier. 400 for a number with a wrong check digit; 409 `duplicate_supplier`; 422 `reference_not_found`. */
export const createSupplier = async (trx: Trx, given: SupplierFields): Promise<string> => {
  const { email, phone, address, contacts, document: sent, ...fields } = given
  checkContacts(given)
  const countryCode = given.countryCode ?? 'BR'
  const document = sent ? normalDocument(countryCode, sent) : null
  const block = blockOf(given, { paymentsBlocked: false, blockReason: null })
  await refuseStrangers(trx, given)
  await refuseTwin(trx, countryCode, document, null)
  const id = randomUUID()
  const reached = changedContacts(none, { email, phone, address, contacts })
  await insertRow(trx, Supplier, {
    ...fields,
    ...block,
    id,
    countryCode,
    document,
    search: searchOfParty({ legalName: given.legalName, tradeName: given.tradeName ?? '', document }),
    sealed: await sealContacts(trx, 'supplier', id, reached),
  })
  await tellSupplier(trx, supplierCreated, id, 1)
  return id
}

/** Locks a supplier, and compares the version that its reader saw. 404, 409 `version_conflict`. */
export const lockSupplier = async (trx: Trx, id: string, expected: number | null = null): Promise<SupplierRecord> => {
  const row = await sqlOne<SupplierRecord>(
    trx,
    `select * from supplier where tenant_id = ? and id = ? for no key update`,
    [contextOf(trx).tenantId, id],
  )
  if (!row) throw notFound()
  if (expected !== null && row.version !== expected) throw versionConflict(row.version)
  return row
}

/** Changes an active supplier: the fields sent. The caller holds its row. */
export const changeSupplier = async (trx: Trx, row: SupplierRecord, change: Partial<SupplierFields>): Promise<void> => {
  moves.allow('changed', row.status)
  const { email, phone, address, contacts, document: sent, ...fields } = change
  if (Object.keys(change).length === 0) return
  checkContacts(change)
  await refuseStrangers(trx, change)
  const countryCode = change.countryCode ?? row.countryCode
  const document = sent === undefined ? row.document : sent === null ? null : normalDocument(countryCode, sent)
  if (document !== row.document || countryCode !== row.countryCode) await refuseTwin(trx, countryCode, document, row.id)
  const before = await openContacts(trx, 'supplier', row.id, row.sealed)
  const version = await changeRow(trx, Supplier, row.id, {
    ...fields,
    ...blockOf(change, row),
    document,
    search: searchOfParty({
      legalName: change.legalName ?? row.legalName,
      tradeName: change.tradeName ?? row.tradeName,
      document,
    }),
    sealed: await sealContacts(trx, 'supplier', row.id, changedContacts(before, { email, phone, address, contacts })),
  })
  await tellSupplier(trx, supplierChanged, row.id, version, change)
}

/** Retires a supplier without open bill, order or credit, of whom no bill recurs: 422 `in_use`. */
export const archiveSupplier = async (trx: Trx, id: string, expected: number | null): Promise<void> => {
  const row = await lockSupplier(trx, id, expected)
  if (!moves.isDue('archived', row.status)) return
  const open = await sqlOne<{ bills: number; orders: number; credits: number; recurringBills: number }>(
    trx,
    `select (select count(*) from payable where tenant_id = :tenantId and supplier_id = :id and status not in ('paid', 'void')) as bills,
       (select count(*) from purchase_order where tenant_id = :tenantId and supplier_id = :id and status not in ('closed', 'cancelled')) as orders,
       (select count(*) from supplier_credit where tenant_id = :tenantId and supplier_id = :id and status = 'open' and available > 0) as credits,
       (select count(*) from recurring_payable where tenant_id = :tenantId and supplier_id = :id and next_on is not null) as recurring_bills`,
    { tenantId: contextOf(trx).tenantId, id },
  )
  const errors = Object.entries(open ?? {}).flatMap(([what, count]) =>
    count > 0 ? [{ field: what, message: `${count} are open` }] : [],
  )
  if (errors.length > 0) throw unprocessable('in_use', 'The supplier has open business', errors)
  const version = await changeRow(trx, Supplier, id, { status: 'archived' })
  await tellSupplier(trx, supplierArchived, id, version)
}

/** Brings an archived supplier back. */
export const restoreSupplier = async (trx: Trx, id: string, expected: number | null): Promise<void> => {
  const row = await lockSupplier(trx, id, expected)
  if (!moves.isDue('restored', row.status)) return
  const version = await changeRow(trx, Supplier, id, { status: 'active' })
  await tellSupplier(trx, supplierRestored, id, version)
}
