import { Bool, Day, Int, List, Nullable, Obj, OneOf, Opt, Sparse, Text, Uuid, Words } from '../../config/schema.ts'
import { sampleId } from '../../config/samples.ts'
import {
  addTaxRate,
  changeTaxCode,
  createTaxCode,
  listTaxCodes,
  readTaxCode,
  taxCodeKinds,
} from '../../db/financial/index.ts'
import { resource } from '../lib/resource.ts'
import { Name, stamps } from './schemas.ts'

const kind = OneOf([...taxCodeKinds])
const rate = Int(0, 1_000_000, { description: 'Millionths: 50000 is 5 %.' })
const changeable = {
  name: Name,
  liabilityAccountId: Uuid,
  contraAccountId: Nullable(Uuid),
  sections: List(Text(1, 60), { max: 20 }, { uniqueItems: true }),
  payeeName: Nullable(Words(1, 120)),
  dueDay: Nullable(Int(1, 28)),
  active: Bool,
}
const code = Text(1, 20, { pattern: '^[0-9A-Z._-]{1,20}$' })
const head = { id: Uuid, bookId: Uuid, kind, code, ...changeable, rate: Nullable(rate), ...stamps }

const taxCodes = resource({
  name: 'taxCodes',
  subject: 'TaxCode',
  table: 'tax_code',
  path: '/api/tenants/:tenantId/financial/tax-codes',
  param: 'taxCodeId',
  record: Obj(
    { ...head, rates: List(Obj({ rate, validFrom: Day, validTo: Nullable(Day) }), { max: 1000 }) },
    { title: 'TaxCode' },
  ),
  read: readTaxCode,
})

const list = taxCodes.list({
  summary: 'List tax codes with the rate in force',
  query: { bookId: Opt(Uuid), kind: Opt(kind), active: Opt(Bool) },
  example: { active: true },
  of: Obj(head, { title: 'TaxCodeHead' }),
  find: ({ trx, filter }) => listTaxCodes(trx, filter),
})

const { name: _name, liabilityAccountId: _account, active: _active, ...optional } = changeable
const create = taxCodes.create({
  summary: 'Create a tax code with its first rate',
  errors: ['duplicate_code', 'account_not_usable', 'not_found'],
  body: Obj({
    bookId: Opt(Uuid),
    kind,
    code,
    name: Name,
    liabilityAccountId: Uuid,
    ...Sparse(Obj(optional)).properties,
    rate: Opt(rate),
    validFrom: Opt(Day),
  }),
  example: {
    bookId: sampleId('bookId'),
    kind: 'document',
    code: 'ISS-NF',
    name: 'ISS',
    liabilityAccountId: sampleId('liabilityAccountId'),
    rate: 50_000,
    validFrom: '2026-01-01',
  },
  command: ({ trx, body }) => createTaxCode(trx, body),
})

const read = taxCodes.read({ summary: 'Show a tax code with all its rates' })

const change = taxCodes.change({
  summary: 'Change name, accounts, sections, payee or active switch',
  description: 'Counts from the next assessment or document.',
  errors: ['account_not_usable'],
  body: Sparse(Obj(changeable)),
  example: { name: 'ISS of the city' },
  command: ({ trx, id, body }) => changeTaxCode(trx, id, body),
})

const addRate = taxCodes.act('rates', {
  id: 'taxCodes.addRate',
  action: 'update',
  summary: 'Add a rate from a date',
  description: 'The rate in force until then ends the day before.',
  errors: ['overlap'],
  body: Obj({ rate, validFrom: Day }),
  example: { rate: 40_000, validFrom: '2027-01-01' },
  command: ({ trx, id, body }) => addTaxRate(trx, id, body),
})

export const routes = [list, create, read, change, addRate]
