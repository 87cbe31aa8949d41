import { invalid } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { toE164 } from '../../config/phone-numbers.ts'
import { isCnpj, isCpf } from '../../config/tax-ids.ts'
import { maskEmail, maskPhone } from '../guests/index.ts'
import type { Trx } from '../lib/connection.ts'
import { plainTerm, plainText, seal, unseal } from '../lib/sealing/index.ts'

/** Postal address of a party, as of a property or business. */
type PartyAddress = {
  line1?: string
  line2?: string
  district?: string
  city?: string
  region?: string
  postalCode?: string
  countryCode?: string
}
type PartyContact = { name: string; role?: string; email?: string; phone?: string; notes?: string }
/** The addresses of a party: kept sealed by the key of the tenant. */
export type PartyContacts = {
  email: string | null
  phone: string | null
  address: PartyAddress | null
  contacts: PartyContact[]
}
/** Contacts as they are sent: what is left out stays as it was. */
export type PartyContactsChange = { [Field in keyof PartyContacts]?: PartyContacts[Field] | undefined }

/** A party as a record keeps it: the name and number of a person are personal data. */
export type PartyIdentity = { legalName: string; tradeName: string; countryCode: string; document: string | null }

const noContacts: PartyContacts = { email: null, phone: null, address: null, contacts: [] }

/**
 * A tax number as it is kept: letters and digits in capitals. Brazil's is a CPF or a CNPJ, whose check digits are looked at: 400 with `field`. A CNPJ is text,
 * and may hold letters.
 */
export const normalDocument = (countryCode: string, document: string, field = 'document'): string => {
  const text = document.toUpperCase().replace(/[^0-9A-Z]/g, '')
  if (text === '') throw invalid([{ field, message: 'has no letter and no digit' }])
  if (countryCode === 'BR' && !isCpf(text) && !isCnpj(text))
    throw invalid([{ field, message: 'is no CPF and no CNPJ: 11 digits, or 14 letters or digits, with check digits' }])
  return text
}

/** Tells whether the number is that of a natural person, as far as it tells: in Brazil a CPF. */
export const isPerson = (countryCode: string, document: string | null): boolean =>
  countryCode === 'BR' && document !== null && isCpf(document)

/** Refuses telephone numbers that are not in E.164: 400. */
export const checkContacts = ({ phone, contacts = [] }: PartyContactsChange): void => {
  const phones: [string, string | null | undefined][] = [
    ['phone', phone],
    ...contacts.map((one, index): [string, string | undefined] => [`contacts.${index}.phone`, one.phone]),
  ]
  const errors = phones.flatMap(([field, number]): FieldError[] =>
    typeof number === 'string' && toE164(number) !== number
      ? [{ field, message: 'is no telephone number in E.164, such as +5524999990001' }]
      : [],
  )
  if (errors.length > 0) throw invalid(errors)
}

/** Seals what a party is reached by into `sealed` of its row in `table`. */
export const sealContacts = (trx: Trx, table: string, id: string, contacts: PartyContacts): Promise<Buffer> =>
  seal(trx, 'tenant', { table, rowId: id, purpose: 'contacts' }, contacts)

/** Opens what a party is reached by; empty where nothing is sealed. */
export const openContacts = (trx: Trx, table: string, id: string, sealed: Buffer | null): Promise<PartyContacts> =>
  sealed === null
    ? Promise.resolve(noContacts)
    : unseal<PartyContacts>(trx, 'tenant', { table, rowId: id, purpose: 'contacts' }, sealed)

/** Contacts with a change: contacts are replaced whole, null clears a field. */
export const changedContacts = (
  before: PartyContacts,
  { email, phone, address, contacts }: PartyContactsChange,
): PartyContacts => ({
  email: email === undefined ? before.email : email,
  phone: phone === undefined ? before.phone : phone,
  address: address === undefined ? before.address : address,
  contacts: contacts === undefined ? before.contacts : contacts,
})

/** Words by which a party is searched: names without accents, and the number. */
export const searchOfParty = ({
  legalName,
  tradeName,
  document,
}: Pick<PartyIdentity, 'legalName' | 'tradeName' | 'document'>) =>
  `${plainText(`${legalName} ${tradeName}`)} ${document?.toLowerCase() ?? ''}`.trim()

/** The term of a search, in the form in which parties are kept. */
export const searchTerm = (q: string): string => (/^[\d.\-/ ]+$/.test(q) ? q.replace(/\D/g, '') : '') || plainTerm(q)

/** The last four characters of a number. */
export const maskDocument = (document: string | null): string | null =>
  document === null ? null : `***${document.slice(-4)}`

const maskName = (name: string): string =>
  name
    .split(' ')
    .map((word) => `${word.slice(0, 1)}***`)
    .join(' ')

/** The people of a firm for readers who see personal data masked. */
export const maskContacts = (
  contacts: readonly { name: string; email?: string | undefined; phone?: string | undefined }[],
) =>
  contacts.map(({ name, email, phone }) => ({
    name: maskName(name),
    ...(email === undefined ? {} : { email: maskEmail(email) }),
    ...(phone === undefined ? {} : { phone: maskPhone(phone) }),
  }))

/** A party for readers who see personal data masked: reached by nothing whole, and a person's name and number hidden. */
export const maskParty = <Shown extends PartyIdentity & PartyContacts>(party: Shown): Shown => ({
  ...party,
  ...(isPerson(party.countryCode, party.document)
    ? {
        legalName: maskName(party.legalName),
        tradeName: party.tradeName === '' ? '' : maskName(party.tradeName),
        document: maskDocument(party.document),
      }
    : {}),
  email: party.email === null ? null : maskEmail(party.email),
  phone: party.phone === null ? null : maskPhone(party.phone),
  address: null,
  contacts: maskContacts(party.contacts),
})

/** The identity of a party that is no record: its number, else its name in capitals (G23). */
export const identityOf = (name: string, document: string | null): string => document ?? name.trim().toUpperCase()
