import { sampleId } from '../../config/samples.ts'
import {
  Country,
  Email,
  Https,
  Instant,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Phone,
  PostalAddress,
  Sparse,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import {
  archiveCompany,
  changeCompany,
  createCompany,
  listCompanies,
  plainSearch,
  readCompany,
  restoreCompany,
} from '../../db/guests/index.ts'
import { maskContacts } from '../../db/documents/index.ts'
import { resource } from '../lib/resource.ts'
import { Version } from './schemas.ts'

const Kind = OneOf(['company', 'agency', 'organiser'])
const Status = OneOf(['active', 'archived'])
const Contact = Obj(
  {
    name: Words(1, 200),
    role: Opt(Words(1, 100)),
    email: Opt(Email),
    phone: Opt(Phone),
    notes: Opt(Words(1, 500)),
  },
  { title: 'CompanyContact' },
)

const fields = {
  kind: Kind,
  legalName: Words(1, 200),
  tradeName: Opt(Text(0, 200)),
  countryCode: Opt(Nullable(Country)),
  taxId: Opt(Nullable(Words(1, 40, { cardNumber: 'document' }))),
  email: Opt(Nullable(Email)),
  phone: Opt(Nullable(Phone)),
  website: Opt(Nullable(Https)),
  address: Opt(Nullable(PostalAddress)),
  contacts: Opt(List(Contact, { max: 20 })),
  commissionRate: Opt(Nullable(Int(0, 5000, { description: 'Basis points; of agencies' }))),
  ratePlanIds: Opt(
    List(Uuid, { max: 20 }, { uniqueItems: true, description: 'Plans agreed with it: shown first, never enforced' }),
  ),
  /** Customer who is billed for what it pays; null: no direct billing. */
  customerId: Opt(Nullable(Uuid)),
  notes: Opt(Text(0, 2000)),
}
const shown = {
  id: Uuid,
  kind: Kind,
  legalName: Text(1, 200),
  tradeName: Text(0, 200),
  countryCode: Nullable(Country),
  taxId: Nullable(Text(1, 40)),
  email: Nullable(Text(0, 254)),
  phone: Nullable(Text(0, 20)),
  website: Nullable(Text(0, 2000)),
  address: Nullable(PostalAddress),
  commissionRate: Nullable(Int(0, 5000)),
  ratePlanIds: List(Uuid, { max: 20 }),
  customerId: Nullable(Uuid),
  notes: Text(0, 2000),
  status: Status,
  version: Version,
  createdAt: Instant,
  updatedAt: Instant,
}
const CompanySummary = Obj(shown, { title: 'CompanySummary' })
const ShownContact = Obj(
  {
    name: Text(1, 400),
    role: Opt(Text(1, 100)),
    email: Opt(Text(0, 254)),
    phone: Opt(Text(0, 20)),
    notes: Opt(Text(1, 500)),
  },
  { title: 'ShownCompanyContact' },
)
const Company = Obj({ ...shown, contacts: List(ShownContact, { max: 20 }) }, { title: 'Company' })

const companies = resource({
  name: 'companies',
  subject: 'Company',
  table: 'company',
  path: '/api/tenants/:tenantId/companies',
  param: 'companyId',
  record: Company,
  read: readCompany,
  show: (company, admission) =>
    admission.isMasked('Company') ? { ...company, contacts: maskContacts(company.contacts) } : company,
})

const list = companies.list({
  summary: 'List companies, agencies and organisers',
  description: '`q` finds words of the legal and the trade name, without accents. Contacts are shown with one company.',
  query: {
    q: Opt(Text(1, 120, { cardNumber: 'exempt' })),
    kind: Opt(Kind),
    status: Opt(Status),
    taxId: Opt(Text(1, 40, { cardNumber: 'exempt' })),
  },
  of: CompanySummary,
  example: { kind: 'agency' },
  find: ({ trx, filter: { q, taxId, ...filter } }) => listCompanies(trx, { ...filter, ...plainSearch({ q, taxId }) }),
})

const create = companies.create({
  summary: 'Create a corporate account with contacts',
  description: 'A tax number is kept as text; that of Brazil (CNPJ, also with letters) has its check digits looked at.',
  errors: ['duplicate_company', 'tax_id_invalid', 'reference_not_found'],
  body: Obj(fields),
  example: {
    kind: 'agency',
    legalName: 'Viagens do Atlântico Ltda',
    tradeName: 'Atlântico',
    countryCode: 'BR',
    email: 'reservas@example.com',
    contacts: [{ name: 'Lia Prado', role: 'Bookings', phone: '+5521999990003' }],
    commissionRate: 1000,
    ratePlanIds: [sampleId('ratePlanId')],
  },
  command: ({ trx, body }) => createCompany(trx, body),
})

const read = companies.read({
  summary: 'Read a corporate account',
  description: 'Its contacts are masked for roles that see personal data masked.',
})

const change = companies.change({
  summary: 'Change identity, contacts, commission or billing customer',
  description: '`contacts` and `ratePlanIds` are replaced as wholes; null clears a field.',
  errors: ['duplicate_company', 'tax_id_invalid', 'reference_not_found', 'invalid_transition'],
  body: Sparse(Obj(fields)),
  example: { tradeName: 'Atlântico Viagens' },
  command: ({ trx, id, body }) => changeCompany(trx, id, body),
})

const archive = companies.act('archive', {
  summary: 'Retire a corporate account without open business',
  action: 'delete',
  errors: ['company_in_use', 'invalid_transition'],
  command: ({ trx, id }) => archiveCompany(trx, id),
})

const restore = companies.act('restore', {
  summary: 'Bring an archived corporate account back',
  action: 'update',
  errors: ['duplicate_company', 'invalid_transition'],
  command: ({ trx, id }) => restoreCompany(trx, id),
})

export const routes = [list, create, read, change, archive, restore]
