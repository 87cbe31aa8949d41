import { subjects } from './subjects.ts'
import type { SubjectName } from './subjects.ts'

/** Stands for the caller, since a role's permissions are shared by all members that hold it. */
export const caller = '$caller'

/** Fields of a record and what they must be, all of them; of a list, one of them. */
export type RecordQuery = Readonly<Record<string, string | null | readonly string[]>>

/**
 * Meaning of a bracket in the permission table: `records`, the action is for these records alone, and one of the queries must hold;
 * `fields`, only these are seen; `masked`, personal data are masked; `module`, the module's own rule applies it to what the request asks for,
 * such as an amount.
 */
export type Meaning =
  | { kind: 'records'; any: readonly RecordQuery[] }
  | { kind: 'fields'; fields: readonly string[] }
  | { kind: 'masked' }
  | { kind: 'module' }

const records = (...any: RecordQuery[]): Meaning => ({ kind: 'records', any })
const fields = (...names: string[]): Meaning => ({ kind: 'fields', fields: names })
const module: Meaning = { kind: 'module' }
const made: Meaning = records({ createdBy: caller })

const moneyModules = new Set(['financial', 'payment', 'cash', 'accounts-payable', 'accounts-receivable'])
const moneySubjects = Object.entries(subjects)
  .filter(([, facts]) => moneyModules.has(facts.module))
  .map(([name]) => name)

const meanings: Partial<Record<SubjectName, Readonly<Record<string, Meaning>>>> = {
  Tenant: { 'name, features': fields('id', 'name', 'features') },
  User: { name: fields('userId', 'name') },
  AuditEntry: { 'own properties': module, financial: records({ subjectType: moneySubjects }) },
  UnitBlock: { 'out of service': records({ kind: 'out_of_service' }) },
  HousekeepingTask: {
    // Unassigned tasks may be taken by any attendant.
    own: records({ assigneeId: caller }, { assigneeId: null }),
    maintenance: records({ kind: 'maintenance' }),
  },
  GatewayAccount: { 'label, status': fields('id', 'label', 'status') },
  // A draft does not belong to the attendant yet.
  HousekeepingSheet: { own: records({ attendantId: caller, status: ['published', 'closed'] }) },
  HousekeepingReport: { own: records({ attendantId: caller }) },
  GuestNote: { own: made },
  GuestBlock: { warn: records({ level: 'warn' }) },
  Reservation: { '3 rules': module, '4 rules': module },
  Folio: { limit: module },
  Payment: { pos_order: records({ targetType: 'pos_order' }) },
  Payable: { band: module, own: made, 'from orders': module },
  Customer: { contacts: module },
  Receipt: { 'own session': module },
  CashAccount: { registers: records({ kind: 'register' }) },
  CashMovement: { 'own session': module },
  CashTransfer: { 'own accounts': module, 'register, safe': module },
  CashSession: { own: records({ cashierId: caller }) },
  EntryDraft: { 'own drafts': made },
  Budget: { 'own drafts': made },
  ReportRun: { own: made },
  ReportSchedule: { own: records({ ownerId: caller }) },
  InventoryStock: { value: module },
  InventoryCount: { 'open lines': module },
  InventoryConsumption: {
    'kit, waste': records({ kind: ['kit', 'waste'] }),
    department: records({ kind: 'department' }),
  },
  PosOrder: { minibar: module },
  Issue: { team: module },
  Compensation: { limit: module },
}

/** Subjects whose records without a property are hidden from callers with chosen properties. */
export const ofPropertyAlone: ReadonlySet<string> = new Set<SubjectName>([
  'LedgerEntry',
  'Account',
  'BusinessDay',
  'Budget',
])

/** Meaning of a condition in the table. An undeclared condition is a mistake in the table, and no process starts with it. */
export const meaningOf = (subject: SubjectName, condition: string): Meaning => {
  const meaning: Meaning | undefined = condition === 'masked' ? { kind: 'masked' } : meanings[subject]?.[condition]
  if (!meaning) throw new Error(`nobody says what (${condition}) means for ${subject}`)
  return meaning
}
