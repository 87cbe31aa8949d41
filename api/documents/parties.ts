import {
  Country,
  Email,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Phone,
  PostalAddress,
  Text,
  AnyOf,
  Words,
} from '../../config/schema.ts'
import { pixKeyTypes } from '../../config/pix.ts'
import { accountTypes } from '../../db/documents/index.ts'

const contact = {
  name: Words(1, 200),
  role: Opt(Words(1, 100)),
  email: Opt(Email),
  phone: Opt(Phone),
  notes: Opt(Words(1, 500)),
}
const shownContact = Obj(
  { ...contact, email: Opt(Text(0, 254)), phone: Opt(Text(0, 20)), name: Text(0, 400) },
  { title: 'PartyContact' },
)

/** A tax number as it is sent, with or without dots. */
export const DocumentNumber = Words(1, 40, { cardNumber: 'document' })

/** The kind of a party and the ways to reach it, as they are sent. */
export const partyFields = {
  legalName: Words(1, 200),
  tradeName: Opt(Text(0, 200)),
  countryCode: Opt(Country),
  document: Opt(Nullable(DocumentNumber)),
  email: Opt(Nullable(Email)),
  phone: Opt(Nullable(Phone)),
  address: Opt(Nullable(PostalAddress)),
  contacts: Opt(List(Obj(contact), { max: 20 })),
}

/** A party as it is shown; masked where the role sees personal data so. */
export const partyShown = {
  legalName: Text(1, 400),
  tradeName: Text(0, 400),
  countryCode: Country,
  document: Nullable(Text(1, 40)),
  email: Nullable(Text(0, 254)),
  phone: Nullable(Text(0, 20)),
  address: Nullable(PostalAddress),
  contacts: List(shownContact, { max: 20 }),
}

/** A Pix key or an account at a bank, as it is sent. */
export const BankDetails = AnyOf([
  Obj({ keyType: OneOf([...pixKeyTypes]), key: Words(1, 77, { cardNumber: 'exempt' }) }, { title: 'PixKeyOfPayee' }),
  Obj(
    {
      ispb: Text(8, 8, { pattern: '^[0-9A-Z]{8}$', cardNumber: 'exempt' }),
      branch: Text(1, 10, { pattern: '^[0-9-]+$', cardNumber: 'exempt' }),
      number: Text(1, 30, { pattern: '^[0-9A-Z-]+$', cardNumber: 'exempt' }),
      accountType: OneOf([...accountTypes]),
    },
    { title: 'AccountOfPayee' },
  ),
])
