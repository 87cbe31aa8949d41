import { AnyOf, Bool, Email, Instant, Nullable, Obj, OneOf, Opt, Phone, Text, Uuid } from '../../config/schema.ts'
import { invalid } from '../../config/errors.ts'
import { maskEmail, maskPhone } from '../../db/guests/index.ts'
import { liftSuppression, listSuppressions, readSuppression, suppress } from '../../db/ocp/index.ts'
import type { Admission } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { Reason, stamps } from '../properties/schemas.ts'
import { Kind, root } from './schemas.ts'

const Cause = OneOf(['hard_bounce', 'complaint', 'stop', 'unsubscribe', 'invalid', 'manual'])
const Address = AnyOf([{ ...Email, cardNumber: 'exempt' } as typeof Email, Phone])
const suppressions = resource({
  name: 'suppressions',
  subject: 'Suppression',
  table: 'suppression',
  path: `${root}/suppressions`,
  param: 'suppressionId',
  record: Obj(
    {
      id: Uuid,
      kind: Kind,
      /** Masked for those who do not read conversations; null where it is erased. */
      address: Nullable(Text(1, 254)),
      scope: OneOf(['all', 'marketing']),
      cause: Cause,
      messageId: Nullable(Uuid),
      createdBy: Nullable(Uuid),
      liftedAt: Nullable(Instant),
      liftedBy: Nullable(Uuid),
      liftReason: Nullable(Text(0, 500)),
      ...stamps,
    },
    { title: 'Suppression' },
  ),
  read: readSuppression,
  show: ({ address, ...row }, admission: Admission) => ({
    ...row,
    address:
      address === null || admission.can('read', 'Conversation')
        ? address
        : address.includes('@')
          ? maskEmail(address)
          : maskPhone(address),
  }),
})

const list = suppressions.list({
  summary: 'List addresses that must not be written to',
  description: 'Lifted ones among them: `lifted=false` leaves them out.',
  query: { kind: Opt(Kind), cause: Opt(Cause), address: Opt(Address), lifted: Opt(Bool) },
  example: { cause: 'stop' },
  find: ({ trx, filter }) => listSuppressions(trx, filter),
})

const create = suppressions.create({
  summary: 'Stop messages to an address',
  description: 'One that is in force already is answered as it stands, made stricter where `scope` is.',
  body: Obj({ kind: Kind, address: Address, scope: OneOf(['all', 'marketing']) }),
  example: { kind: 'email', address: 'nobody@example.com', scope: 'marketing' },
  command: ({ trx, body }) => {
    if (body.address.includes('@') !== (body.kind === 'email'))
      throw invalid([{ field: 'address', message: `is no address of ${body.kind}` }])
    return suppress(trx, { ...body, cause: 'manual', messageId: null })
  },
})

const lift = suppressions.act('lift', {
  summary: 'Allow messages to an address again, with reason',
  action: 'delete',
  errors: ['lift_not_allowed'],
  body: Reason,
  example: { reason: 'The guest has asked for it at the desk' },
  command: ({ trx, id, body }) => liftSuppression(trx, id, body.reason),
})

export const routes = [list, create, lift]
