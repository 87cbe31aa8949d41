import { sampleId } from '../../config/samples.ts'
import { journalKinds } from '../../config/financial.ts'
import { Bool, Day, Nullable, Obj, OneOf, Opt, Sparse, Uuid } from '../../config/schema.ts'
import { changeJournal, createJournal, listJournals, readJournal } from '../../db/financial/index.ts'
import { resource } from '../lib/resource.ts'
import { LedgerCode, Name, stamps } from './schemas.ts'

const kind = OneOf([...journalKinds])

const journals = resource({
  name: 'journals',
  subject: 'Journal',
  table: 'journal',
  path: '/api/tenants/:tenantId/financial/journals',
  param: 'journalId',
  record: Obj(
    { id: Uuid, bookId: Uuid, code: LedgerCode, name: Name, kind, lockedUntil: Nullable(Day), active: Bool, ...stamps },
    { title: 'Journal' },
  ),
  read: readJournal,
})

const list = journals.list({
  summary: 'List the journals of a book',
  query: { bookId: Opt(Uuid), kind: Opt(kind), active: Opt(Bool) },
  example: { kind: 'general' },
  find: ({ trx, filter }) => listJournals(trx, filter),
})

const create = journals.create({
  summary: 'Create a journal',
  errors: ['duplicate_code', 'not_found'],
  body: Obj({ bookId: Opt(Uuid), code: LedgerCode, name: Name, kind }),
  example: { bookId: sampleId('bookId'), code: 'PAY.1', name: 'Payroll', kind: 'general' },
  command: ({ trx, body }) => createJournal(trx, body),
})

const change = journals.change({
  summary: 'Rename a journal or switch it on or off',
  description: 'The last active journal of a kind stays active, since events post to it.',
  errors: ['in_use'],
  body: Sparse(Obj({ name: Name, active: Bool })),
  example: { name: 'Payroll and benefits' },
  command: ({ trx, id, body }) => changeJournal(trx, id, body),
})

export const routes = [list, create, change]
