import { randomUUID } from 'node:crypto'
import { conflict, invalid, notFound, unprocessable } from '../../config/errors.ts'
import { companyArchived, companyChanged, companyCreated, companyRestored } from '../../config/events/guests.ts'
import { toE164 } from '../../config/phone-numbers.ts'
import { isCnpj } from '../../config/tax-ids.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit, sentFields } from '../lib/events.ts'
import { archivable } from '../lib/lifecycle.ts'
import { matching, equal, pageOf } from '../lib/lists.ts'
import { model } from '../lib/models.ts'
import { changeRow, insertRow, readRow } from '../lib/records.ts'
import { plainTerm, plainText, seal, unseal } from '../lib/sealing/index.ts'
import { idsLike, partly } from '../lib/words.ts'
import type { CompanyRow } from '../rows.ts'
import type { Address } from './profile.ts'

export type Contact = { name: string; role?: string; email?: string; phone?: string; notes?: string }
type Stored = Omit<CompanyRow, 'address'> & { address: Address | null }
const Company = model<'company', { address: Address | null }>('company')
const moves = archivable('A company')
const contactsPlace = (id: string) => ({ table: 'company', rowId: id, purpose: 'contacts' })

export type CompanyFields = {
  kind: CompanyRow['kind']
  legalName: string
  tradeName?: string | undefined
  countryCode?: string | null | undefined
  taxId?: string | null | undefined
  email?: string | null | undefined
  phone?: string | null | undefined
  website?: string | null | undefined
  address?: Address | null | undefined
  contacts?: readonly Contact[] | undefined
  commissionRate?: number | null | undefined
  ratePlanIds?: readonly string[] | undefined
  /** The customer who is billed for what the firm pays; null is no direct billing. */
  customerId?: string | null | undefined
  notes?: string | undefined
}

/** A tax number as it is kept: letters and digits in capitals. Brazil's has check digits: 422 `tax_id_invalid`. */
const normalTaxId = (taxId: string, countryCode: string | null | undefined): string => {
  if (!countryCode) throw invalid([{ field: 'countryCode', message: 'is required beside a tax number' }])
  const text = taxId.toUpperCase().replace(/[^0-9A-Z]/g, '')
  const wrong = (message: string) =>
    unprocessable('tax_id_invalid', 'The tax number cannot be right', [{ field: 'taxId', message }])
  if (text === '') throw wrong('has no letter and no digit')
  if (countryCode === 'BR' && !isCnpj(text)) throw wrong('is no CNPJ: 14 letters or digits with check digits')
  return text
}

const check = ({ kind, commissionRate, phone, contacts = [] }: Partial<CompanyFields>) => {
  const phones: [string, string | null | undefined][] = [
    ['phone', phone],
    ...contacts.map((one, index): [string, string | undefined] => [`contacts.${index}.phone`, one.phone]),
  ]
  const errors = [
    ...(kind !== 'agency' && typeof commissionRate === 'number'
      ? [{ field: 'commissionRate', message: 'is for agencies' }]
      : []),
    ...phones.flatMap(([field, number]) =>
      typeof number === 'string' && toE164(number) !== number
        ? [{ field, message: 'is no telephone number in E.164, such as +5524999990001' }]
        : [],
    ),
  ]
  if (errors.length > 0) throw invalid(errors)
}

const refuseStrangePlans = async (trx: Trx, ratePlanIds: readonly string[] | undefined) => {
  if (!ratePlanIds || ratePlanIds.length === 0) return
  const known = await sql<{ id: string }>(trx, `select id from rate_plan where id = any(?::uuid[])`, [ratePlanIds])
  const strange = ratePlanIds.filter((id) => !known.some((row) => row.id === id))
  if (strange.length > 0)
    throw unprocessable(
      'reference_not_found',
      'A rate plan does not exist',
      strange.map((id) => ({ field: 'ratePlanIds', message: `${id} does not exist` })),
    )
}

const refuseStrangeCustomer = async (trx: Trx, customerId: string | null | undefined) => {
  if (!customerId) return
  const known = await sqlOne<{ id: string }>(
    trx,
    `select id from customer where id = ? and status = 'active' for share`,
    [customerId],
  )
  if (!known)
    throw unprocessable('reference_not_found', 'There is no such customer', [
      { field: 'customerId', message: 'is no active customer' },
    ])
}

/** Refuses a tax number that another active firm has. Those with one number take turns, so that the second is told of the first. */
const refuseTwin = async (trx: Trx, countryCode: string | null, taxId: string | null, self: string | null) => {
  if (taxId === null) return
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended('company ' || ?, 0))`, [
    `${contextOf(trx).tenantId ?? ''} ${countryCode ?? ''} ${taxId}`,
  ])
  const twin = await sqlOne<{ id: string }>(
    trx,
    `select id from company where country_code = ? and tax_id = ? and status = 'active' and id is distinct from ?::uuid`,
    [countryCode, taxId, self],
  )
  if (twin)
    throw conflict('duplicate_company', 'Another firm has this tax number', [
      { field: 'taxId', message: `is that of company ${twin.id}` },
    ])
}

const searchOf = (legalName: string, tradeName: string) => plainText(`${legalName} ${tradeName}`)
const contactsOf = (trx: Trx, id: string, contacts: readonly Contact[]) =>
  contacts.length === 0 ? null : seal(trx, 'tenant', contactsPlace(id), contacts)

export const createCompany = async (trx: Trx, company: CompanyFields): Promise<string> => {
  const { contacts = [], legalName, tradeName = '', countryCode = null, ...fields } = company
  check(company)
  const taxId = company.taxId ? normalTaxId(company.taxId, countryCode) : null
  await refuseStrangePlans(trx, company.ratePlanIds)
  await refuseStrangeCustomer(trx, company.customerId)
  await refuseTwin(trx, countryCode, taxId, null)
  const id = randomUUID()
  await insertRow(trx, Company, {
    ...fields,
    ratePlanIds: [...(company.ratePlanIds ?? [])],
    id,
    legalName,
    tradeName,
    countryCode,
    taxId,
    nameSearch: searchOf(legalName, tradeName),
    sealed: await contactsOf(trx, id, contacts),
  })
  await emit(trx, companyCreated, { propertyId: null, id, version: 1, data: { companyId: id, kind: company.kind } })
  return id
}

const lockCompany = async (trx: Trx, companyId: string): Promise<Stored> => {
  const row = await sqlOne<Stored>(trx, `select * from company where id = ? for no key update`, [companyId])
  if (!row) throw notFound()
  return row
}

/** Changes an active firm: the fields sent. Contacts are replaced as a whole. */
export const changeCompany = async (trx: Trx, companyId: string, change: Partial<CompanyFields>): Promise<void> => {
  const row = await lockCompany(trx, companyId)
  moves.allow('changed', row.status)
  const { contacts, ratePlanIds, ...fields } = change
  check({ kind: row.kind, commissionRate: row.commissionRate, ...change })
  const countryCode = change.countryCode === undefined ? row.countryCode : change.countryCode
  const sent = change.taxId === undefined ? row.taxId : change.taxId
  const taxId = sent ? normalTaxId(sent, countryCode) : null
  await refuseStrangePlans(trx, ratePlanIds)
  await refuseStrangeCustomer(trx, change.customerId)
  if (taxId !== row.taxId || countryCode !== row.countryCode) await refuseTwin(trx, countryCode, taxId, companyId)
  const version = await changeRow(trx, Company, companyId, {
    ...fields,
    ...(ratePlanIds ? { ratePlanIds: [...ratePlanIds] } : {}),
    ...(change.taxId !== undefined || change.countryCode !== undefined ? { taxId, countryCode } : {}),
    ...(contacts ? { sealed: await contactsOf(trx, companyId, contacts) } : {}),
    ...(change.legalName !== undefined || change.tradeName !== undefined
      ? { nameSearch: searchOf(change.legalName ?? row.legalName, change.tradeName ?? row.tradeName) }
      : {}),
  })
  await emit(trx, companyChanged, {
    propertyId: null,
    id: companyId,
    version,
    data: { companyId, kind: change.kind ?? row.kind },
    changed: sentFields(Object.fromEntries(Object.keys(change).map((field) => [field, null]))),
  })
}

/** A firm's open business as a higher module knows it: stays to come, groups, folios. */
export type CompanyUse = { field: string; message: string }
type Uses = (trx: Trx, companyId: string) => Promise<CompanyUse[]>
const uses: Uses[] = []
export const registerCompanyUses = (find: Uses): void => {
  if (!uses.includes(find)) uses.push(find)
}

type CompanyFacts = { id: string; kind: string; status: string; commissionRate: number | null }

/**
 * The firms that something new names, held so that none is archived meanwhile. 422 `reference_not_found` for one that does not exist or is not of `kind`;
 * 422 `company_archived`.
 */
export const nameFirms = async (
  trx: Trx,
  named: readonly { field: string; id: string | null | undefined; kind?: 'agency' }[],
): Promise<Map<string, CompanyFacts>> => {
  const ids = named.flatMap(({ id }) => (id ? [id] : []))
  if (ids.length === 0) return new Map()
  const rows = await sql<CompanyFacts>(
    trx,
    `select id, kind, status, commission_rate from company where id = any(?::uuid[]) order by id for share`,
    [ids],
  )
  const found = new Map(rows.map((row) => [row.id, row]))
  for (const { field, id, kind } of named) {
    if (!id) continue
    const firm = found.get(id)
    if (!firm || (kind && firm.kind !== kind))
      throw unprocessable('reference_not_found', 'There is no such firm', [
        { field, message: firm ? `is no ${kind}` : 'does not exist' },
      ])
    if (firm.status === 'archived')
      throw unprocessable('company_archived', 'The firm is archived', [{ field, message: 'is archived' }])
  }
  return found
}

/** Retires a firm without open business (C1): it stays readable, and nothing new names it. */
export const archiveCompany = async (trx: Trx, companyId: string): Promise<void> => {
  const row = await lockCompany(trx, companyId)
  if (!moves.isDue('archived', row.status)) return
  const open = (await Promise.all(uses.map((find) => find(trx, companyId)))).flat()
  if (open.length > 0) throw unprocessable('company_in_use', 'The firm has open business', open)
  const version = await changeRow(trx, Company, companyId, { status: 'archived' })
  await emit(trx, companyArchived, { propertyId: null, id: companyId, version, data: { companyId, kind: row.kind } })
}

/** Brings an archived firm back (C2). 409 `duplicate_company` where another one has its tax number by now. */
export const restoreCompany = async (trx: Trx, companyId: string): Promise<void> => {
  const row = await lockCompany(trx, companyId)
  if (!moves.isDue('restored', row.status)) return
  await refuseTwin(trx, row.countryCode, row.taxId, companyId)
  const version = await changeRow(trx, Company, companyId, { status: 'active' })
  await emit(trx, companyRestored, { propertyId: null, id: companyId, version, data: { companyId, kind: row.kind } })
}

/** A firm with its contacts opened. 404. */
export const readCompany = async (trx: Trx, companyId: string) => {
  const row = await readRow(trx, Company, companyId)
  const contacts = row.sealed ? await unseal<Contact[]>(trx, 'tenant', contactsPlace(row.id), row.sealed) : []
  return { ...row, contacts }
}

/** The terms by which a list of firms is searched, in the form in which firms are kept. */
export const plainSearch = ({ q, taxId }: { q: string | undefined; taxId: string | undefined }) => ({
  // Signs alone are in no name: as they are they find nothing.
  q: q === undefined ? undefined : plainTerm(q),
  taxId: taxId?.toUpperCase().replace(/[^0-9A-Z]/g, ''),
})

const page = pageOf(Company, {
  order: ['nameSearch', 'id'],
  filters: {
    q: matching<string>('strpos(name_search, ?) > 0'),
    ids: matching<string[]>('id = any(?::uuid[])'),
    kind: equal('kind'),
    status: equal('status'),
    taxId: equal('taxId'),
  },
})

/** A page of firms, by name; `q` finds words of the name without accents. Contacts are not opened. */
export const listCompanies = async (trx: Trx, { q, ...filter }: Omit<Parameters<typeof page>[1], 'ids'>) => {
  const ids = q === undefined ? null : await idsLike(trx, 'company', partly(q))
  return page(trx, { ...filter, ...(ids === null ? { q } : { ids }) })
}
