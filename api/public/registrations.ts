import { formFields } from '../../config/registration.ts'
import { Anything, List, MapOf, Nullable, Obj, OneOf, Opt, Sparse, Text, Uuid } from '../../config/schema.ts'
import { fillRegistration, readRegistration } from '../../db/guests/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { fields, ofFilling, schemaOfForm, signature, Status } from '../guests/registrations.ts'
import { publicRegistration } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'

const Fields = List(OneOf([...formFields]), { max: formFields.length })
const GuestForm = Obj(
  {
    id: Uuid,
    status: Status,
    name: Nullable(Text(0, 201)),
    /** Fields that are filled in. Their values are not shown. */
    masked: Fields,
    missing: Fields,
    signedName: Nullable(Text(0, 201)),
    /** JSON Schema of what the form of this guest needs. */
    fields: MapOf(Anything, { max: 50 }),
  },
  { title: 'GuestForm' },
)

/** A form as its guest sees it: a link may be read by others, so values other than the name stay hidden. */
const shown = async (trx: Trx, id: string) => {
  const { form, given, required, status, missing, signedName } = await readRegistration(trx, id)
  return {
    id,
    status,
    name: form.name ?? null,
    masked: given.filter((field) => field !== 'name'),
    missing,
    signedName,
    fields: schemaOfForm(required),
  }
}

const path = '/api/public/guest-registrations/:guestRegistrationId'

const read = route({
  id: 'public.guestRegistration',
  method: 'GET',
  path,
  summary: 'Read the form behind a registration link',
  description:
    'With the token of the link in `X-Registration-Token`. Values that are filled in are named, and not shown. Ten calls a minute for a link.',
  access: publicRegistration(),
  returns: GuestForm,
  handle: ({ trx, guestRegistrationId }) => shown(trx, guestRegistrationId),
})

const fill = route({
  id: 'public.fillGuestRegistration',
  method: 'PATCH',
  path,
  summary: 'Fill in the form behind a registration link',
  description:
    'Fields that are sent replace those of the form. With nothing missing and a signature the form is ready.',
  access: publicRegistration(),
  body: Obj({ form: Opt(Sparse(Obj(fields))), signed: Opt(Obj(signature)) }),
  example: {
    form: { nationality: 'BR', reason: 'leisure', residence: { city: 'Santos', countryCode: 'BR' } },
    signed: { name: 'Ana Souza' },
  },
  returns: GuestForm,
  errors: ofFilling,
  handle: async ({ trx, guestRegistrationId, body: { form, signed } }) => {
    await fillRegistration(trx, guestRegistrationId, {
      ...(form ? { form } : {}),
      ...(signed ? { signed: { on: 'link' as const, ...signed } } : {}),
    })
    return shown(trx, guestRegistrationId)
  },
})

export const routes = [read, fill]
