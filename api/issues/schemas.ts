import {
  issueCauses,
  issueHours,
  issueKinds,
  issueOutcomes,
  issuePriorities,
  issueSources,
  issueStatuses,
  issueTeams,
} from '../../config/issues.ts'
import {
  Actor,
  Amount,
  Bool,
  Count,
  Currency,
  Day,
  Instant,
  Int,
  List,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { Attachments } from '../lib/attachments.ts'
import { stamps } from '../properties/schemas.ts'
import { ReservationStatus } from '../reservations/schemas.ts'

export const path = '/api/tenants/:tenantId/issues'
export const Kind = OneOf([...issueKinds])
export const Team = OneOf([...issueTeams])
export const Priority = OneOf([...issuePriorities])
export const Status = OneOf([...issueStatuses])
export const Cause = OneOf([...issueCauses])
export const Outcome = OneOf([...issueOutcomes])
export const Source = OneOf([...issueSources])
export const Title = Words(3, 160)
export const Description = Text(0, 5_000)
export const CategoryCode = Matching('^[a-z0-9_]{2,40}$', 40)
/** Minor units of a compensation. */
export const Money = Int(1, 100_000_000_000)

export const Compensation = Obj(
  {
    id: Uuid,
    issueId: Uuid,
    propertyId: Uuid,
    reservationId: Uuid,
    /** A gesture records its cost and posts nothing. */
    kind: OneOf(['adjustment', 'gesture']),
    amount: Amount,
    currency: Currency,
    folioId: Nullable(Uuid),
    /** Null: the room charges, latest first. */
    lineId: Nullable(Uuid),
    description: Text(3, 120),
    /** Null after it was erased. */
    reason: Nullable(Text(0, 500)),
    refundExcess: Bool,
    status: OneOf(['proposed', 'approved', 'rejected']),
    automatic: Bool,
    proposedBy: Nullable(Uuid),
    decidedBy: Nullable(Uuid),
    decidedAt: Nullable(Instant),
    decisionReason: Nullable(Text(0, 500)),
    folioLineIds: List(Uuid, { max: 1_000 }),
    refundIds: List(Uuid, { max: 100 }),
    ...stamps,
  },
  { title: 'Compensation' },
)

const head = {
  id: Uuid,
  number: Count,
  propertyId: Uuid,
  status: Status,
  kind: Kind,
  categoryId: Uuid,
  categoryCode: CategoryCode,
  priority: Priority,
  /** Null after the texts were erased. */
  title: Nullable(Text(0, 160)),
  description: Nullable(Description),
  source: Source,
  sourceEvent: Nullable(Text(1, 100)),
  sourceKey: Nullable(Text(1, 200)),
  /** The number of times that its event has come. */
  occurrences: Int(1, 2_147_483_647),
  /** Null for roles that do not read guests. */
  guestId: Nullable(Uuid),
  guest: Nullable(Obj({ guestId: Uuid, name: Text(0, 400) })),
  reservationId: Nullable(Uuid),
  unitId: Nullable(Uuid),
  unit: Nullable(Obj({ unitId: Uuid, name: Text(0, 100) })),
  unitBlockId: Nullable(Uuid),
  housekeepingTaskId: Nullable(Uuid),
  paymentId: Nullable(Uuid),
  /** Null for roles that do not read guests. */
  conversationId: Nullable(Uuid),
  assigneeId: Nullable(Uuid),
  team: Team,
  /** 1 manager, 2 admin, 3 owner. */
  escalation: Int(0, 3),
  waitingFor: Nullable(OneOf(['guest', 'third_party'])),
  waitingSince: Nullable(Instant),
  waitedSeconds: Count,
  /** The hours by which its clocks run: around the clock, or in the business hours of the house. */
  hours: OneOf([...issueHours]),
  firstResponseDueAt: Instant,
  firstRespondedAt: Nullable(Instant),
  firstResponseBreachedAt: Nullable(Instant),
  resolutionDueAt: Instant,
  resolutionBreachedAt: Nullable(Instant),
  /** The nearest deadline that is not met; null while none runs. */
  nextDueAt: Nullable(Instant),
  /** Minutes to that deadline, negative once it has passed. */
  dueInMinutes: Nullable(Int(-2_147_483_648, 2_147_483_647)),
  late: Bool,
  /** The resolution clock stands. */
  paused: Bool,
  /** Three or more issues of the same unit and category within 90 days. */
  recurring: Bool,
  cause: Nullable(Cause),
  outcome: Nullable(Outcome),
  duplicateOfId: Nullable(Uuid),
  reopenCount: Count,
  resolvedAt: Nullable(Instant),
  closedAt: Nullable(Instant),
  score: Nullable(Int(1, 5)),
  scoredAt: Nullable(Instant),
  ...stamps,
}
export const IssueListed = Obj(head, { title: 'IssueListed' })

const clock = { dueAt: Instant, metAt: Nullable(Instant), breachedAt: Nullable(Instant) }
export const Issue = Obj(
  {
    ...head,
    resolution: Nullable(Text(0, 2_000)),
    scoreComment: Nullable(Text(0, 1_000)),
    comments: List(
      Obj({
        id: Uuid,
        visibility: OneOf(['internal', 'guest']),
        /** Null after it was erased. */
        text: Nullable(Text(0, 5_000)),
        /** Null for the system and for guests. */
        authorId: Nullable(Uuid),
        messageId: Nullable(Uuid),
        createdAt: Instant,
      }),
      { max: 500 },
    ),
    history: List(
      Obj({
        id: Uuid,
        command: Text(1, 60),
        from: Nullable(Status),
        to: Status,
        /** Fields that the command has changed; values stand in no history. */
        changes: List(Text(1, 60), { max: 50 }),
        actor: Actor,
        reason: Nullable(Text(0, 2_000)),
        requestId: Nullable(Text(1, 200)),
        at: Instant,
      }),
      { max: 500 },
    ),
    compensations: List(Compensation, { max: 200 }),
    attachments: Attachments,
    /** Stays whose unit and dates the block of the issue touches. */
    affected: List(
      Obj({ reservationId: Uuid, number: Text(1, 40), unitId: Uuid, from: Day, to: Day, status: ReservationStatus }),
      { max: 100 },
    ),
    /** Of the same unit and category within 90 days. */
    similar: List(Obj({ id: Uuid, number: Count, status: Status, createdAt: Instant, resolvedAt: Nullable(Instant) }), {
      max: 5,
    }),
    /** A block that still runs though the issue was resolved. */
    warnings: List(Obj({ code: OneOf(['block_running']), message: Text(1, 200) }), { max: 5 }),
    clocks: Obj({ firstResponse: Obj(clock), resolution: Obj({ ...clock, paused: Bool }) }),
  },
  { title: 'Issue' },
)
