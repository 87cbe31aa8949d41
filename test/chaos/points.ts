import type { CrashPoint } from '../../config/crash.ts'
import { schedules } from '../../jobs/all.ts'
import type { Kind } from './fleet.ts'

/** What a guest does while a process waits to die. */
export type Story =
  /** Books and pays by card: confirmed. */
  | 'book'
  /** The same, and cancels: the money goes back. */
  | 'cancel'
  /** Holds and never pays: expired. */
  | 'expire'
  /** Starts a payment by Pix, then pays by card: the first is closed at the gateway. */
  | 'supersede'
  /** Pays by a card whose gateway never calls back, after a step of the guest's own: read by the schedule. */
  | 'unread'
  /** Pays while the gateway takes no calls. */
  | 'busy'
  /** Redis loses everything before the booking. */
  | 'wipe'
  /** Pays and cancels; the gateway returns the money and its answer is lost: read by the schedule. */
  | 'unreturned'
  /** Books; the mail server hears the message, and its answer is lost: what became of it is asked later. */
  | 'unheard'
  /** Books while the clock asks for the kind of the case. */
  | 'slot'

export type Case = { point: CrashPoint; kind: string; process: Kind; story: Story }

const outside = ['job.claimed', 'effect.writing', 'effect.committed', 'job.completing', 'job.committed'] as const
const inDatabase = ['job.claimed', 'job.completing', 'job.committed'] as const
const aroundCall = ['call.started', 'call.answered'] as const
const ofRelay = ['relay.picked', 'relay.added', 'relay.committed'] as const
const ofScheduler = ['scheduler.firing', 'scheduler.fired'] as const
const ofApi = ['api.writing', 'api.committed'] as const

const every = (points: readonly CrashPoint[], process: Kind, kinds: Readonly<Record<string, Story>>): Case[] =>
  Object.entries(kinds).flatMap(([kind, story]) => points.map((point) => ({ point, kind, process, story })))

/** Every commit and every call of every kind of job that a booking leads to, one by one. */
export const cases: readonly Case[] = [
  ...every(outside, 'worker', {
    'payments.submit': 'book',
    'payments.read': 'unread',
    'payments.cancel': 'supersede',
    'payments.refund': 'cancel',
    'payments.read-refund': 'unreturned',
    'messages.deliver': 'book',
    'messages.resolve-unknown': 'unheard',
  }),
  ...every(inDatabase, 'worker', {
    'payments.process-callback': 'book',
    'inventory.confirm-paid': 'book',
    'inventory.assign': 'book',
    'inventory.expire-hold': 'expire',
    'ledger.post': 'book',
    'messages.trigger': 'book',
    'messages.plan-stay': 'book',
  }),
  ...every(inDatabase, 'worker', Object.fromEntries(schedules.map(({ job }) => [job.name, 'slot' as const]))),
  ...every(aroundCall, 'worker', { submit: 'book', cancel: 'supersede', refund: 'cancel', send: 'book' }),
  ...every(['job.failed'], 'worker', { 'payments.submit': 'busy' }),
  ...every(ofRelay, 'relay', { payments: 'book', inventory: 'book', ledger: 'book', messages: 'book' }),
  ...every(['relay.epoch'], 'relay', { '': 'wipe' }),
  ...every(ofScheduler, 'scheduler', { 'payments.sweep': 'unread', 'inventory.sweep-holds': 'expire' }),
  ...every(ofApi, 'api', {
    'public.reservations.hold': 'book',
    'public.createPayment': 'book',
    'public.reservations.cancel': 'cancel',
  }),
]

export const nameOf = ({ point, kind }: Pick<Case, 'point' | 'kind'>) => (kind === '' ? point : `${point}/${kind}`)
