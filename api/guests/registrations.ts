import { formFields, reportKinds } from '../../config/registration.ts'
import type { FormField } from '../../config/registration.ts'
import {
  Anything,
  Bool,
  Country,
  Day,
  Instant,
  List,
  MapOf,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import {
  documentKinds,
  fillRegistration,
  listRegistrations,
  readRegistration,
  linkChannels,
  sendLink,
  submitRegistration,
} from '../../db/guests/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { resource } from '../lib/resource.ts'
import { documentFields, Version } from './schemas.ts'

export const Status = OneOf(['pending', 'ready', 'submitted', 'accepted', 'rejected', 'cancelled'])
const Reason = OneOf(['leisure', 'business', 'event', 'health', 'study', 'other'])
const Transport = OneOf(['plane', 'car', 'bus', 'ship', 'train', 'other'])
const Place = Obj({ city: Opt(Words(1, 120)), region: Opt(Words(1, 120)), countryCode: Opt(Country) })
const { kind, countryCode, number } = documentFields
export const fields = {
  name: Words(1, 201),
  document: Obj({ kind, countryCode, number }),
  birthDate: Day,
  nationality: Country,
  residence: Place,
  occupation: Words(1, 120),
  reason: Reason,
  transport: Transport,
  from: Place,
  to: Place,
}
/** `image`: what was drawn, a PNG as base64. */
export const signature = { name: Words(1, 201), image: Opt(Text(4, 140_000, { cardNumber: 'exempt' })) }
export const ofFilling = ['invalid_transition', 'guest_erased', 'document_invalid', 'file_type_mismatch'] as const
const ShownPlace = Obj({ city: Opt(Text(0, 200)), region: Opt(Text(0, 200)), countryCode: Opt(Country) })
const shown = {
  id: Uuid,
  reservationId: Uuid,
  guestId: Uuid,
  propertyId: Uuid,
  status: Status,
  formVersion: Version,
  missing: List(OneOf([...formFields]), { max: formFields.length }),
  signedAt: Nullable(Instant),
  signedVia: Nullable(OneOf(['link', 'paper', 'tablet'])),
  linkSentAt: Nullable(Instant),
  externalId: Nullable(Text(0, 100)),
  rejectReason: Nullable(Text(0, 500)),
  version: Version,
  createdAt: Instant,
  updatedAt: Instant,
}
const GuestRegistrationSummary = Obj(
  { ...shown, firstName: Text(1, 100), lastName: Text(0, 100), arrival: Day, departure: Day },
  { title: 'GuestRegistrationSummary' },
)
const GuestRegistration = Obj(
  {
    ...shown,
    /** As it was filled in, and as the profile fills it. */
    form: Obj({
      name: Opt(Text(0, 201)),
      document: Opt(Obj({ kind: OneOf([...documentKinds]), countryCode, number: Text(0, 10) })),
      nationality: Opt(Country),
      residence: Opt(ShownPlace),
      occupation: Opt(Text(0, 120)),
      reason: Opt(Reason),
      transport: Opt(Transport),
      from: Opt(ShownPlace),
      to: Opt(ShownPlace),
    }),
    /** Fields that are there and shown masked, or not at all. */
    masked: List(OneOf(['birthDate', 'document']), { max: 2 }),
    signedName: Nullable(Text(0, 201)),
    hasSignatureImage: Bool,
    /** JSON Schema of what the form of this guest needs. */
    fields: MapOf(Anything, { max: 50 }),
    reports: List(
      Obj({
        id: Uuid,
        kind: OneOf([...reportKinds]),
        formVersion: Version,
        status: OneOf(['queued', 'accepted', 'rejected', 'unknown', 'superseded']),
        externalId: Nullable(Text(0, 100)),
        error: Nullable(Text(0, 500)),
        sentAt: Nullable(Instant),
        answeredAt: Nullable(Instant),
      }),
      { max: 200 },
    ),
  },
  { title: 'GuestRegistration' },
)

/** The JSON Schema of a form with these required fields. */
export const schemaOfForm = (required: readonly FormField[]) => ({ ...Obj(fields), required: [...required] })

const readForm = async (trx: Trx, id: string) => {
  const { required, ...found } = await readRegistration(trx, id)
  return { ...found, fields: schemaOfForm(required) }
}

const registrations = resource({
  name: 'guestRegistrations',
  subject: 'GuestRegistration',
  table: 'guest_registration',
  path: '/api/tenants/:tenantId/guest-registrations',
  param: 'guestRegistrationId',
  record: GuestRegistration,
  lockedBy: 'command',
  read: readForm,
})

const list = registrations.list({
  summary: 'List registration forms by stay and state',
  description:
    'The next arrival first. Forms are kept where `registration.mode` of the property is `warn` or `strict`.',
  query: {
    propertyId: Opt(Uuid),
    status: Opt(Status),
    reservationId: Opt(Uuid),
    arrivalFrom: Opt(Day),
    arrivalTo: Opt(Day),
  },
  of: GuestRegistrationSummary,
  example: { status: 'pending' },
  find: ({ trx, filter }) => listRegistrations(trx, filter),
})

const read = registrations.read({ summary: 'Read a form with missing fields and reports' })

const fill = registrations.change({
  summary: 'Fill in or correct a form',
  description:
    'Fields that are sent replace those of the form. With nothing missing and a signature the form is ready. It is corrected until 24 hours after the check-out.',
  errors: ofFilling,
  body: Obj({
    form: Opt(Sparse(Obj(fields))),
    signed: Opt(Obj({ on: OneOf(['paper', 'tablet']), ...signature })),
  }),
  example: {
    form: { nationality: 'BR', reason: 'leisure', residence: { city: 'Santos', countryCode: 'BR' } },
    signed: { on: 'paper', name: 'Ana Souza' },
  },
  command: ({ trx, id, body, expectedVersion }) => fillRegistration(trx, id, body, expectedVersion),
})

const link = registrations.act('send-link', {
  action: 'update',
  summary: 'Send the guest a link to fill in the form',
  description:
    'The links before end. It is good until the end of the arrival date, or for 24 hours if that is later, and ends with the check-in.',
  errors: ['invalid_transition', 'guest_erased', 'recipient_missing'],
  body: Obj({ channel: OneOf([...linkChannels]) }),
  example: { channel: 'email' },
  command: ({ trx, id, body, expectedVersion }) => sendLink(trx, id, body.channel, expectedVersion),
})

const submit = registrations.act('submit', {
  action: 'update',
  summary: 'Report a form to the authority, or again',
  description:
    'A complete form is reported by itself where the house has an authority; this repeats it after a refusal. The answer shows in `reports`.',
  errors: ['invalid_transition', 'registration_incomplete', 'authority_not_set'],
  body: Obj({}),
  example: {},
  command: ({ trx, id, expectedVersion }) => submitRegistration(trx, id, expectedVersion),
})

export const routes = [list, read, fill, link, submit]
