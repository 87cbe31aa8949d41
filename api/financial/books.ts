import {
  Amount,
  Bool,
  Country,
  Currency,
  Day,
  Int,
  List,
  Literal,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Text,
  TimeZone,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { forbidden } from '../../config/errors.ts'
import { journalKinds } from '../../config/financial.ts'
import { sampleId } from '../../config/samples.ts'
import { assignProperty, changeBook, createBook, listBooks, readBook, setLocks } from '../../db/financial/index.ts'
import { requireRecent } from '../lib/access/admission.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { LedgerCode, Name, stamps } from './schemas.ts'

const taxRegime = OneOf(['simples', 'presumed_profit', 'actual_profit', 'other'])
const legalName = Words(1, 200)
const document = Nullable(Text(1, 40, { cardNumber: 'document' }))
const head = {
  id: Uuid,
  name: Name,
  legalName,
  countryCode: Country,
  document,
  taxRegime,
  currency: Currency,
  timeZone: TimeZone,
  fiscalYearStartMonth: Int(1, 12),
  lockedUntil: Nullable(Day),
  approvalThreshold: Nullable(Amount),
  singleOperator: Bool,
  isDefault: Bool,
  active: Bool,
  ...stamps,
}
const Book = Obj(
  {
    ...head,
    openPeriod: Nullable(Obj({ id: Uuid, startsOn: Day, endsOn: Day })),
    journals: List(
      Obj({ journalId: Uuid, code: LedgerCode, kind: OneOf([...journalKinds]), lockedUntil: Nullable(Day) }),
      {
        max: 1000,
      },
    ),
    propertyIds: List(Uuid, { max: 10_000 }),
  },
  { title: 'Book' },
)
const path = '/api/tenants/:tenantId/financial/books'

const books = resource({
  name: 'books',
  subject: 'Book',
  table: 'book',
  path,
  param: 'bookId',
  record: Book,
  read: readBook,
  show: (book, { propertyIds }) =>
    propertyIds === null ? book : { ...book, propertyIds: book.propertyIds.filter((id) => propertyIds.includes(id)) },
})

const list = books.list({
  summary: 'List the books, one per legal entity',
  query: { active: Opt(Bool) },
  of: Obj(head, { title: 'BookHead' }),
  example: { active: true },
  find: ({ trx, filter }) => listBooks(trx, filter),
})

const create = books.create({
  summary: 'Create a book with accounts, journals and first fiscal year',
  description:
    '`template: hotel` brings the default chart of the country. The first year begins on the first of a month, up to five years back; all years up to the next one are made.',
  errors: ['duplicate_code'],
  body: Obj({
    name: Name,
    legalName,
    countryCode: Country,
    document: Opt(document),
    taxRegime,
    currency: Currency,
    timeZone: TimeZone,
    firstYearStartsOn: Day,
    template: OneOf(['hotel', 'none']),
  }),
  example: {
    name: 'Pousada do Mar',
    legalName: 'Pousada do Mar Ltda',
    countryCode: 'BR',
    taxRegime: 'simples',
    currency: 'BRL',
    timeZone: 'America/Sao_Paulo',
    firstYearStartsOn: '2026-01-01',
    template: 'hotel',
  },
  command: ({ trx, body }) => createBook(trx, body),
})

const read = books.read({ summary: 'Show a book with open period, locks and properties' })

const change = books.change({
  summary: 'Change names, tax settings, approval threshold or active switch',
  description:
    '`approvalThreshold` and `singleOperator` are changed by owner and admin alone, with a recent proof of identity.',
  errors: ['duplicate_code', 'in_use', 'reauthentication_required'],
  body: Sparse(
    Obj({
      name: Name,
      legalName,
      document,
      taxRegime,
      approvalThreshold: Nullable(Amount),
      singleOperator: Bool,
      isDefault: Literal(true),
      active: Bool,
    }),
  ),
  example: { legalName: 'Pousada do Mar Hotelaria Ltda' },
  command: ({ trx, id, body, caller, request, admission }) => {
    if (body.approvalThreshold !== undefined || body.singleOperator !== undefined) {
      if (admission.role !== 'owner' && admission.role !== 'admin')
        throw forbidden('forbidden', 'The rules of approval are changed by owner and admin alone')
      requireRecent(caller, request.receivedAt)
    }
    return changeBook(trx, id, body)
  },
})

const assign = route({
  id: 'books.assignProperty',
  method: 'POST',
  path: `${path}/:bookId/assign-property`,
  access: can('update', 'Book'),
  record: books.lock,
  returns: Book,
  summary: 'Assign a property without postings to this book',
  errors: ['currency_mismatch', 'property_has_postings', 'in_use', 'invalid_transition'],
  body: Obj({ propertyId: Uuid }),
  example: { propertyId: sampleId('propertyId') },
  handle: async ({ trx, params, body }) => {
    await assignProperty(trx, params.bookId, body.propertyId)
    return readBook(trx, params.bookId)
  },
})

const lock = route({
  id: 'books.setLocks',
  method: 'PUT',
  path: `${path}/:bookId/locks`,
  summary: 'Set the lock dates of the book and its journals',
  description:
    'Nothing is posted on or before a lock date; null clears one. A date that moves back needs a reason, and the permission to override books.',
  access: can('lock', 'Book'),
  record: books.lock,
  body: Obj({
    lockedUntil: Opt(Nullable(Day)),
    journals: Opt(List(Obj({ journalId: Uuid, lockedUntil: Nullable(Day) }), { max: 100 })),
    reason: Opt(Words(1, 500)),
  }),
  example: { lockedUntil: '2026-01-31' },
  returns: Book,
  errors: ['postings_waiting', 'reference_not_found'],
  handle: async ({ trx, params, body, admission }) => {
    await setLocks(trx, params.bookId, body, admission.can('override', 'Book'))
    return readBook(trx, params.bookId)
  },
})

export const routes = [list, create, read, change, assign, lock]
