import { sampleId } from '../../config/samples.ts'
import { AnyOf, Bool, Day, Literal, Text, Nullable, Obj, OneOf, Opt, Sparse, Uuid, Words } from '../../config/schema.ts'
import {
  addComment,
  changeIssue,
  closeIssue,
  createIssue,
  escalateIssue,
  issueSorts,
  listIssues,
  pauseIssue,
  proposeCompensation,
  readIssue,
  readIssueInSight,
  reopenIssue,
  resolveIssue,
  startIssue,
} from '../../db/issues/index.ts'
import { can } from '../lib/access/kinds.ts'
import { asJudged } from '../lib/record.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { trimmed } from '../lib/reason.ts'
import {
  Cause,
  Description,
  Issue,
  IssueListed,
  Kind,
  Money,
  Outcome,
  path,
  Priority,
  Source,
  Status,
  Team,
  Title,
} from './schemas.ts'
import { showIssue, showListed } from './show.ts'

const links = {
  guestId: Nullable(Uuid),
  reservationId: Nullable(Uuid),
  unitId: Nullable(Uuid),
  housekeepingTaskId: Nullable(Uuid),
  paymentId: Nullable(Uuid),
  conversationId: Nullable(Uuid),
}

export const issues = resource({
  name: 'issues',
  subject: 'Issue',
  table: 'issue',
  path,
  param: 'issueId',
  record: Issue,
  lockedBy: 'command',
  read: (trx, id) => readIssue(trx, id),
  show: showIssue,
})

const list = issues.list({
  summary: 'List issues, nearest deadline first',
  description:
    'Housekeepers, maintenance and finance see the issues of their team, those that they opened and those assigned to them. `q` is a number: titles are sealed and not searched.',
  query: {
    propertyId: Opt(Uuid),
    status: Opt(Status),
    kind: Opt(Kind),
    categoryId: Opt(Uuid),
    priority: Opt(Priority),
    team: Opt(Team),
    assigneeId: Opt(AnyOf([Uuid, Literal('me'), Literal('none')])),
    guestId: Opt(Uuid),
    reservationId: Opt(Uuid),
    unitId: Opt(Uuid),
    late: Opt(Bool),
    escalated: Opt(Bool),
    recurring: Opt(Bool),
    source: Opt(Source),
    cause: Opt(Cause),
    from: Opt(Day),
    to: Opt(Day),
    q: Opt(Text(1, 20)),
  },
  sort: { by: Object.keys(issueSorts) as (keyof typeof issueSorts)[], usual: 'dueAt' },
  of: IssueListed,
  example: { late: true },
  find: async ({ trx, filter, admission }) => {
    const { total, rows } = await listIssues(trx, filter, admission.role)
    return { total, rows: rows.map((row) => showListed(row, admission)) }
  },
})

const create = issues.create({
  summary: 'Open an issue',
  description: 'Its clocks run from now by the targets of the category. A reservation names its first guest.',
  errors: [
    'reference_not_found',
    'category_inactive',
    'link_mismatch',
    'assignee_not_allowed',
    'guest_erased',
    'invalid_transition',
    'not_found',
  ],
  body: Obj({
    propertyId: Uuid,
    categoryId: Uuid,
    title: Title,
    description: Opt(Description),
    kind: Opt(Kind),
    priority: Opt(Priority),
    assigneeId: Opt(Nullable(Uuid)),
    ...Sparse(Obj(links)).properties,
  }),
  example: {
    propertyId: sampleId('propertyId'),
    categoryId: sampleId('issueCategoryId'),
    title: 'Loud music next door',
    priority: 'high',
  },
  command: ({ trx, body, admission }) => {
    admission.check('create', 'Issue', { propertyId: body.propertyId })
    return createIssue(trx, { ...body, title: trimmed(body.title), priority: body.priority ?? 'normal' })
  },
})

const read = route({
  id: 'issues.read',
  method: 'GET',
  path: issues.one,
  summary: 'Read an issue with comments, clocks and history',
  access: can('read', 'Issue'),
  part: { resource: 'issues', verb: 'read' },
  returns: Issue,
  handle: async ({ trx, params: { issueId }, admission }) => {
    const found = await readIssueInSight(trx, issueId, admission.role)
    admission.check('read', 'Issue', asJudged('issue', issueId, found))
    return showIssue(found, admission)
  },
})

const change = issues.change({
  summary: 'Change text, category, priority, assignee or links',
  description:
    'Another priority or category moves the deadlines, counted from the opening. After closing, links and cause alone can change.',
  errors: [
    'category_inactive',
    'link_mismatch',
    'assignee_not_allowed',
    'reference_not_found',
    'guest_erased',
    'invalid_transition',
  ],
  body: Sparse(
    Obj({
      title: Title,
      description: Description,
      kind: Kind,
      categoryId: Uuid,
      priority: Priority,
      team: Team,
      assigneeId: Nullable(Uuid),
      cause: Nullable(Cause),
      ...links,
    }),
  ),
  example: { priority: 'urgent' },
  command: ({ trx, id, body, admission, expectedVersion }) =>
    changeIssue(trx, id, body, { role: admission.role, expectedVersion }),
})

const comment = route({
  id: 'issues.comment',
  method: 'POST',
  path: `${issues.one}/comments`,
  summary: 'Add an internal comment or a message to the guest',
  description:
    'A comment for the guest is sent to them, in the conversation of the issue where it has an open one, and counts as the first response. It needs the feature ocp. Answers of the guest become comments without an author.',
  access: can('comment', 'Issue'),
  record: issues.lock,
  status: 201,
  errors: [
    'recipient_missing',
    'recipient_suppressed',
    'no_channel',
    'window_closed',
    'country_not_allowed',
    'invalid_transition',
  ],
  body: Obj({ text: Words(1, 5_000), visibility: Opt(OneOf(['internal', 'guest'])) }),
  example: { text: 'Asked the neighbours to be quiet' },
  returns: Issue,
  handle: async ({ trx, params: { issueId }, body, admission, expectedVersion }) => {
    const { role, features } = admission
    const { text, visibility = 'internal' } = body
    await addComment(
      trx,
      issueId,
      { text, visibility },
      { role, expectedVersion, mayMessage: features.includes('ocp') },
    )
    return showIssue(await readIssue(trx, issueId), admission)
  },
})

const start = issues.act('start', {
  summary: 'Begin or resume work on an issue',
  description: 'An issue without an assignee goes to the caller.',
  action: 'update',
  errors: ['invalid_transition'],
  command: ({ trx, id, admission, expectedVersion }) => startIssue(trx, id, { role: admission.role, expectedVersion }),
})

const wait = issues.act('wait', {
  summary: 'Pause the clock while waiting for somebody',
  action: 'update',
  errors: ['invalid_transition'],
  body: Obj({ for: OneOf(['guest', 'third_party']), note: Opt(Words(1, 500)) }),
  example: { for: 'guest', note: 'Asked which room it is' },
  command: ({ trx, id, body, admission, expectedVersion }) =>
    pauseIssue(trx, id, { waitingFor: body.for, note: body.note }, { role: admission.role, expectedVersion }),
})

const escalate = route({
  id: 'issues.escalate',
  method: 'POST',
  path: `${issues.one}/escalate`,
  summary: 'Raise an issue to the next level',
  description:
    '1 manager, 2 admin, 3 owner. The people of the level are mailed; an assignee of another level is taken off. Each call raises it by one.',
  access: can('update', 'Issue'),
  record: issues.lock,
  errors: ['invalid_transition'],
  body: Obj({ reason: Words(3, 500) }),
  example: { reason: 'The guest wants to leave' },
  returns: Issue,
  handle: async ({ trx, params: { issueId }, body, admission, expectedVersion }) => {
    await escalateIssue(trx, issueId, trimmed(body.reason), { role: admission.role, expectedVersion })
    return showIssue(await readIssue(trx, issueId), admission)
  },
})

const resolve = issues.act('resolve', {
  summary: 'Mark an issue as resolved, with cause',
  description:
    'With `endBlock` the running block of the issue ends with it, and its units become dirty; one that has not begun is cancelled. Without it `warnings` name a block that still runs.',
  action: 'update',
  errors: ['invalid_transition', 'compensation_pending'],
  body: Obj({ resolution: Words(3, 2_000), cause: Cause, endBlock: Opt(Bool) }),
  example: { resolution: 'Moved the guest to a quiet room', cause: 'guest' },
  command: ({ trx, id, body, admission, expectedVersion }) =>
    resolveIssue(trx, id, body, { role: admission.role, expectedVersion }),
})

const close = issues.act('close', {
  summary: 'Close an issue for good',
  description:
    'A resolved issue closes as resolved, which happens by itself after some days. Any other needs the reason why nothing was done.',
  errors: ['invalid_transition', 'compensation_pending', 'link_mismatch'],
  body: Obj({ outcome: Outcome, duplicateOfId: Opt(Nullable(Uuid)), reason: Opt(Words(3, 500)) }),
  example: { outcome: 'resolved' },
  command: ({ trx, id, body, admission, expectedVersion }) =>
    closeIssue(trx, id, body, { role: admission.role, expectedVersion }),
})

const reopen = issues.act('reopen', {
  summary: 'Open a resolved or closed issue again',
  action: 'update',
  errors: ['invalid_transition', 'reopen_too_late'],
  body: Obj({ reason: Words(3, 500) }),
  example: { reason: 'The noise is back' },
  command: ({ trx, id, body, admission, expectedVersion }) =>
    reopenIssue(trx, id, trimmed(body.reason), { role: admission.role, expectedVersion }),
})

const compensate = route({
  id: 'issues.compensate',
  method: 'POST',
  path: `${issues.one}/compensations`,
  summary: 'Propose a compensation for the guest',
  description:
    'An adjustment lowers charges of the folio once it is approved; within `autoApproveLimit` of the category that is at once. A gesture, such as a bottle, records its cost alone.',
  access: can('propose', 'Compensation'),
  record: issues.lock,
  status: 201,
  errors: [
    'reservation_required',
    'folio_closed',
    'folio_busy',
    'adjustment_exceeds_charge',
    'currency_mismatch',
    'link_mismatch',
    'line_not_adjustable',
    'reference_not_found',
    'invalid_transition',
    'amount_exceeds_refundable',
    'amount_disputed',
    'method_unavailable',
    'business_day_changed',
  ],
  body: Obj({
    kind: OneOf(['adjustment', 'gesture']),
    amount: Money,
    folioId: Opt(Nullable(Uuid)),
    lineId: Opt(Nullable(Uuid)),
    description: Words(3, 120),
    reason: Words(3, 500),
    refundExcess: Opt(Bool),
  }),
  example: { kind: 'gesture', amount: 3_000, description: 'A bottle of wine', reason: 'Noise in the night' },
  returns: Issue,
  handle: async ({ trx, params: { issueId }, body, admission, expectedVersion }) => {
    await proposeCompensation(trx, issueId, body, { role: admission.role, expectedVersion })
    return showIssue(await readIssue(trx, issueId), admission)
  },
})

export const routes = [list, create, read, change, comment, start, wait, escalate, resolve, close, reopen, compensate]
