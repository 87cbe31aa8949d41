import { conflict, unprocessable } from '../../../config/errors.ts'
import type { FiscalAdapter } from '../../../config/fiscal.ts'
import { openContacts } from '../../documents/index.ts'
import { bookDocument } from '../../financial/index.ts'
import { taxpayerOf } from '../../guests/index.ts'
import { scaled, shareOf } from '../../lib/amounts.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { missingOf } from '../rules/taker.ts'
import type { Taker } from '../rules/taker.ts'
import { isServed, readSettings } from '../settings/settings.ts'
import type { FiscalSettings } from '../settings/settings.ts'
import type { FiscalSnapshot } from './models.ts'

export type FiscalSource = { receivableId: string } | { folioId: string }
export type SourceFacts = {
  receivableId: string | null
  folioId: string | null
  bookId: string
  propertyId: string | null
  total: number
  currency: string
  description: string
  on: string
}
type Drawn = { facts: SourceFacts; adapter: FiscalAdapter; snapshot: FiscalSnapshot; missing: string[] }

const unknown = (field: string) =>
  unprocessable('reference_not_found', 'There is no such source', [{ field, message: 'does not exist' }])

const alive = ['issued', 'partly_paid', 'paid', 'credited', 'written_off']

const lockReceivable = async (trx: Trx, id: string) => {
  const row = await sqlOne<SourceFacts & { status: string; kind: string; customerId: string }>(
    trx,
    `select r.status, r.kind, r.customer_id, r.book_id, r.property_id, r.total, r.currency, r.issued_on as "on",
       (select string_agg(l.description, '; ' order by l.line_no) from receivable_line l where l.tenant_id = r.tenant_id and l.receivable_id = r.id) as description
     from receivable r where r.tenant_id = ? and r.id = ? for no key update of r`,
    [contextOf(trx).tenantId, id],
  )
  if (!row) throw unknown('receivableId')
  if (!alive.includes(row.status) || row.kind === 'opening')
    throw conflict('invalid_transition', 'A fiscal document is of an issued receivable', [
      {
        field: 'receivableId',
        message: row.kind === 'opening' ? 'is a debt from before the start' : `is ${row.status}`,
      },
    ])
  return row
}

type FolioFacts = SourceFacts & {
  status: string
  billed: boolean
  payerGuestId: string | null
  payerCompanyId: string | null
}

const lockFolio = async (trx: Trx, id: string) => {
  const row = await sqlOne<FolioFacts>(
    trx,
    `select f.status, f.receivable_id is not null as billed, coalesce(f.payer_guest_id, r.primary_guest_id) as payer_guest_id, f.payer_company_id, p.book_id,
       f.property_id, f.charges as total, f.currency, p.business_date as "on", 'Folio ' || f.number as description
     from folio f join property p on p.tenant_id = f.tenant_id and p.id = f.property_id
     left join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id
     where f.tenant_id = ? and f.id = ? for no key update of f`,
    [contextOf(trx).tenantId, id],
  )
  if (!row) throw unknown('folioId')
  if (row.status !== 'closed' || row.billed || row.total <= 0)
    throw conflict(
      'invalid_transition',
      'A fiscal document is of a closed folio with charges that no customer was billed',
      [
        {
          field: 'folioId',
          message: row.billed
            ? 'was billed to a customer'
            : row.status === 'closed'
              ? 'has no charges'
              : `is ${row.status}`,
        },
      ],
    )
  return row
}

const customerOf = async (trx: Trx, id: string): Promise<Taker & { withholds: string[] }> => {
  const row = await sqlOne<{
    kind: string
    legalName: string
    countryCode: string
    document: string | null
    sealed: Buffer | null
    withholds: string[]
  }>(
    trx,
    `select kind, legal_name, country_code, document, sealed, withholding_tax_code_ids as withholds from customer where tenant_id = ? and id = ?`,
    [contextOf(trx).tenantId, id],
  )
  if (!row) throw new Error('the customer of a receivable does not exist')
  const { email, address } = await openContacts(trx, 'customer', id, row.sealed)
  return {
    name: row.legalName,
    isPerson: row.kind === 'person',
    countryCode: row.countryCode,
    document: row.document,
    address,
    email,
    withholds: row.withholds,
  }
}

const companyOf = async (trx: Trx, id: string): Promise<Taker> => {
  const row = await sqlOne<{
    legalName: string
    countryCode: string | null
    taxId: string | null
    email: string | null
    address: Taker['address']
  }>(trx, `select legal_name, country_code, tax_id, email, address from company where tenant_id = ? and id = ?`, [
    contextOf(trx).tenantId,
    id,
  ])
  if (!row) throw new Error('the payer of a folio does not exist')
  const { legalName: name, taxId: document, email, address } = row
  return { name, isPerson: false, countryCode: row.countryCode ?? 'BR', document, address, email }
}

const nobody: Taker = { name: '', isPerson: true, countryCode: 'BR', document: null, address: null, email: null }

const payerOf = async (trx: Trx, folio: FolioFacts): Promise<Taker> => {
  if (folio.payerCompanyId) return companyOf(trx, folio.payerCompanyId)
  const guest = folio.payerGuestId ? await taxpayerOf(trx, folio.payerGuestId) : null
  return guest ? { ...guest, isPerson: true } : nobody
}

/** The part of the total that the customer will keep back, by codes in use of the book and their rates of the day, each tax half-up. */
const withheldOf = async (
  trx: Trx,
  codes: readonly string[],
  { bookId, total, on }: Pick<SourceFacts, 'bookId' | 'total' | 'on'>,
): Promise<number> => {
  if (codes.length === 0) return 0
  const rates = await sql<{ rate: number }>(
    trx,
    `select t.rate from tax_rate t join tax_code c on c.tenant_id = t.tenant_id and c.id = t.tax_code_id and c.book_id = ? and c.active
     where t.tenant_id = ? and t.tax_code_id = any(?::uuid[]) and daterange(t.valid_from, t.valid_to, '[]') @> cast(? as date)`,
    [bookId, contextOf(trx).tenantId, codes, on],
  )
  return rates.reduce((sum, { rate }) => sum + scaled(total, rate, 1_000_000), 0)
}

/** 422 `fiscal_not_configured` for a book without authority, or without what it is known by there. */
const refuseUnset = (fiscal: FiscalSettings, document: string | null) => {
  if (fiscal.adapter === 'none' || !isServed(fiscal.adapter))
    throw unprocessable('fiscal_not_configured', 'The book sends its documents to no authority', [
      { field: 'fiscal.adapter', message: fiscal.adapter === 'none' ? 'is none' : `${fiscal.adapter} is off` },
    ])
  const missing = [
    ...(fiscal.cityCode === null ? ['fiscal.cityCode'] : []),
    ...(fiscal.serviceCode === null ? ['fiscal.serviceCode'] : []),
    ...(document === null ? ['book.document'] : []),
  ]
  if (missing.length > 0)
    throw unprocessable(
      'fiscal_not_configured',
      'The book is not ready for its authority',
      missing.map((field) => ({ field, message: 'is not set' })),
    )
}

const bookFacts = async (trx: Trx, id: string) => {
  const book = await sqlOne<{
    id: string
    timeZone: string
    legalName: string
    countryCode: string
    document: string | null
    sealed: Buffer | null
  }>(trx, `select id, time_zone, legal_name, country_code, document, sealed from book where tenant_id = ? and id = ?`, [
    contextOf(trx).tenantId,
    id,
  ])
  if (!book) throw new Error('the book of a fiscal document does not exist')
  return { ...book, document: await bookDocument(trx, book) }
}

/**
 * Draws what a document of a source says now, the source locked: 422 `reference_not_found`; 409 `invalid_transition` for a source that has none; 422 `fiscal_not_configured`. `missing`
 * are the fields of the taker that the city asks for.
 */
export const drawSnapshot = async (trx: Trx, source: FiscalSource, serviceText: string): Promise<Drawn> => {
  const receivable = 'receivableId' in source ? await lockReceivable(trx, source.receivableId) : null
  const folio = 'folioId' in source ? await lockFolio(trx, source.folioId) : null
  const facts: SourceFacts | null = receivable ?? folio
  if (!facts) throw new Error('a fiscal document has a source')
  const book = await bookFacts(trx, facts.bookId)
  const { fiscal } = await readSettings(trx, book)
  refuseUnset(fiscal, book.document)
  const customer = receivable ? await customerOf(trx, receivable.customerId) : null
  const taker = customer ?? (folio ? await payerOf(trx, folio) : nobody)
  const { name, isPerson, countryCode, document, address, email } = taker
  const { total } = facts
  return {
    facts: {
      receivableId: 'receivableId' in source ? source.receivableId : null,
      folioId: 'folioId' in source ? source.folioId : null,
      bookId: facts.bookId,
      propertyId: facts.propertyId,
      total,
      currency: facts.currency,
      description: facts.description,
      on: facts.on,
    },
    adapter: fiscal.adapter,
    missing: missingOf(taker),
    snapshot: {
      issuer: {
        name: book.legalName,
        countryCode: book.countryCode,
        document: book.document,
        cityRegistration: fiscal.cityRegistration,
      },
      taker: { name, isPerson, countryCode, document, address, email },
      service: {
        code: fiscal.serviceCode,
        nationalCode: fiscal.nationalServiceCode,
        nbsCode: fiscal.nbsCode,
        cityCode: fiscal.cityCode,
        text: (serviceText || facts.description).slice(0, 1_000),
      },
      amounts: {
        total,
        deductions: 0,
        base: total,
        issRate: fiscal.issRate,
        iss: shareOf(total, fiscal.issRate),
        withheld: await withheldOf(trx, customer?.withholds ?? [], facts),
        ibsCbs: null,
      },
    },
  }
}
