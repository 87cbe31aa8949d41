import { messageContexts } from '../../config/message-variables.ts'
import {
  Bool,
  Instant,
  Int,
  Language,
  List,
  LocaleTag,
  MapOf,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { anchors } from '../../db/ocp/index.ts'

export const root = '/api/tenants/:tenantId/ocp' as const
export const Kind = OneOf(['email', 'sms', 'whatsapp'])
export const Name = Words(1, 120)
export const Purpose = OneOf(['service', 'marketing'])
export const Urgency = OneOf(['immediate', 'normal'])
export const Context = OneOf([...messageContexts])

/** Channels in the order in which they are tried. After `waitMinutes` without a delivery the next one has its turn. */
export const Plan = List(Obj({ channel: Kind, waitMinutes: Int(5, 1_440) }), { min: 1, max: 3 })
export const StoredPlan = List(Obj({ channel: Kind, waitMinutes: Int(0, 100_000) }), { max: 3 })

const Subject = Words(1, 200)
const ContentSid = Matching('^HX[0-9a-fA-F]{32}$', 34)
const contentVariables = MapOf(Text(0, 1_000), { max: 20, pattern: '^[A-Za-z0-9_]{1,30}$' })
/** Contents as they are sent: e-mail has subject, text and html; SMS text; WhatsApp an approved content, and a text for open sessions. */
export const GivenContent = Obj({
  channel: Kind,
  locale: Language,
  subject: Opt(Nullable(Subject)),
  text: Opt(Nullable(Words(1, 10_000))),
  html: Opt(Nullable(Words(1, 100_000))),
  contentSid: Opt(Nullable(ContentSid)),
  contentVariables: Opt(Nullable(contentVariables)),
})
const Content = Obj(
  {
    channel: Kind,
    locale: LocaleTag,
    subject: Nullable(Text(0, 1_000)),
    text: Nullable(Text(0, 20_000)),
    html: Nullable(Text(0, 200_000)),
    contentSid: Nullable(Text(1, 100)),
    contentVariables: Nullable(MapOf(Text(0, 1_000), { max: 20 })),
  },
  { title: 'MessageContent' },
)
export const TemplateVersion = Obj(
  {
    number: Int(1, 1_000_000),
    status: OneOf(['draft', 'published', 'replaced']),
    contents: List(Content, { max: 30 }),
    variables: List(Text(1, 100), { max: 200 }),
    publishedAt: Nullable(Instant),
    publishedBy: Nullable(Uuid),
  },
  { title: 'MessageTemplateVersion' },
)

const Anchor = OneOf([...anchors])
export const GivenTrigger = Obj({
  event: Opt(Text(1, 60)),
  anchor: Opt(Anchor),
  days: Opt(Int(-365, 365)),
  at: Opt(Matching('^([01][0-9]|2[0-3]):[0-5][0-9]$', 5)),
  hours: Opt(Int(-72, 72)),
})
/** An event, or an anchor with days and a local time, or with hours. */
export const Trigger = Obj(
  {
    event: Opt(Text(1, 60)),
    anchor: Opt(Anchor),
    days: Opt(Int(-365, 365)),
    at: Opt(Text(5, 5)),
    hours: Opt(Int(-72, 72)),
  },
  { title: 'AutomationTrigger' },
)
const Ids = List(Uuid, { min: 1, max: 100 }, { uniqueItems: true })
const Languages = List(LocaleTag, { min: 1, max: 20 }, { uniqueItems: true })
export const Conditions = Sparse(
  Obj(
    {
      unitTypeIds: Ids,
      ratePlanIds: Ids,
      sources: List(Text(1, 40), { min: 1, max: 20 }, { uniqueItems: true }),
      minNights: Int(1, 366),
      maxNights: Int(1, 366),
      languages: Languages,
      returning: Bool,
      balanceDue: Bool,
      minor: Bool,
    },
    { title: 'AutomationConditions' },
  ),
)
