import {
  AnyOf,
  Bool,
  Country,
  Email,
  Instant,
  Int,
  List,
  Literal,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Phone,
  Sparse,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { changeChannel, listChannels, readChannel, testChannel } from '../../db/ocp/index.ts'
import type { Admission } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { stamps } from '../properties/schemas.ts'
import { requireCallable } from '../lib/callable.ts'
import { Kind, root } from './schemas.ts'

const Verification = Obj({
  status: OneOf(['unverified', 'pending', 'verified', 'failed']),
  /** The TXT record `_pousada.<domain>` must say `pousada-verify=<code>`. */
  code: Nullable(Text(1, 100)),
  checkedAt: Nullable(Instant),
  error: Nullable(Text(1, 60)),
})

const channels = resource({
  name: 'messageChannels',
  subject: 'MessageChannel',
  table: 'message_channel',
  path: `${root}/channels`,
  param: 'messageChannelId',
  record: Obj(
    {
      id: Uuid,
      propertyId: Uuid,
      kind: Kind,
      enabled: Bool,
      /** `platform`: the service’s own account. `sandbox`: nothing leaves the service. */
      transport: OneOf(['platform', 'own', 'sandbox']),
      senderName: Nullable(Text(1, 60)),
      senderAddress: Nullable(Text(1, 254)),
      replyTo: Nullable(Text(1, 254)),
      hasCredentials: Bool,
      /** The address that providers report to. Null for callers who may not change channels: its holder may speak for the provider of a sandbox. */
      callbackUrl: Nullable(Text(1, 2_000)),
      dailyCap: Int(1, 100_000),
      countries: List(Country, { max: 250 }),
      verification: Verification,
      ...stamps,
    },
    { title: 'MessageChannel' },
  ),
  read: readChannel,
  show: ({ verification, ...channel }, admission: Admission) => ({
    ...channel,
    callbackUrl: admission.can('update', 'MessageChannel') ? channel.callbackUrl : null,
    verification: {
      status: verification.status,
      code: verification.code ?? null,
      checkedAt: verification.checkedAt ?? null,
      error: verification.error ?? null,
    },
  }),
})

const list = channels.list({
  summary: 'List e-mail, SMS and WhatsApp channels by property',
  query: { propertyId: Opt(Uuid), kind: Opt(Kind), enabled: Opt(Bool) },
  example: { kind: 'email' },
  find: ({ trx, filter }) => listChannels(trx, filter),
})

const secret = (max: number) => Matching('^[^\\u0000-\\u0020\\u007f]+$', max, { cardNumber: 'exempt' })
/** Written, never read. Of e-mail: host, port, user, password. Of SMS and WhatsApp: accountSid, authToken, and a number or a messaging service. */
const Credentials = Sparse(
  Obj({
    host: Matching('^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$', 253),
    port: AnyOf([Literal(465), Literal(587), Literal(2525)]),
    user: Text(1, 254, { pattern: '^[^\\u0000-\\u001f\\u007f]+$', cardNumber: 'exempt' }),
    password: Text(1, 500, { pattern: '^[^\\u0000-\\u001f\\u007f]+$', cardNumber: 'exempt' }),
    accountSid: Matching('^AC[0-9a-fA-F]{32}$', 34),
    authToken: secret(100),
    from: Phone,
    messagingServiceSid: Matching('^MG[0-9a-fA-F]{32}$', 34),
    /** Signs what is reported of mail: Standard Webhooks. */
    inboundSecret: Matching('^(whsec_)?[A-Za-z0-9+/=]{32,120}$', 130, { cardNumber: 'exempt' }),
  }),
)

const change = channels.change({
  summary: 'Change transport, sender, limits or switch of a channel',
  description:
    '`credentials` replace the former ones whole. A changed sender or account is verified anew by `test`. A number is the sender of SMS and WhatsApp by an account of your own.',
  errors: ['credentials_missing', 'sender_not_verified', 'address_refused'],
  body: Obj({
    enabled: Opt(Bool),
    transport: Opt(OneOf(['platform', 'own', 'sandbox'])),
    senderName: Opt(Nullable(Words(1, 60))),
    senderAddress: Opt(Nullable(AnyOf([Email, Phone]))),
    replyTo: Opt(Nullable(Email)),
    dailyCap: Opt(Int(1, 100_000)),
    countries: Opt(List(Country, { max: 250 }, { uniqueItems: true })),
    credentials: Opt(Nullable(Credentials)),
  }),
  example: { senderName: 'Pousada do Sol', dailyCap: 2_000 },
  command: async ({ trx, id, body }) => {
    if (body.credentials?.host !== undefined) requireCallable(`https://${body.credentials.host}/`, 'credentials.host')
    const { senderName } = body
    // One line: it stands in a header.
    const named = senderName?.replace(/[\p{Cc}<>"]+/gu, ' ').trim()
    await changeChannel(trx, id, { ...body, ...(senderName === undefined ? {} : { senderName: named || null }) })
  },
})

const test = channels.act('test', {
  summary: 'Verify the sender and send a test message',
  description: 'The reply is `pending`; read the list for what came of it. An own domain needs its TXT record first.',
  action: 'update',
  body: Obj({ recipient: AnyOf([{ ...Email, cardNumber: 'exempt' } as typeof Email, Phone]) }),
  example: { recipient: 'ana@example.com' },
  command: ({ trx, id, body }) => testChannel(trx, id, body.recipient),
})

export const routes = [list, change, test]
