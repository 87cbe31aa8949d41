import type { CrashPoint } from '../../config/crash.ts'
import { schedules } from '../../jobs/all.ts'
import { processors } from '../../workers/processors.ts'
import { missedAfterMs } from './evidence.ts'
import type { Kind } from './fleet.ts'

/** Stories that a guest plays while a process waits to die. */
export type Story =
  /** Books and pays by card: confirmed. */
  | 'book'
  /** Books and cancels: the money goes back. */
  | 'cancel'
  /** Holds and never pays: expired. */
  | 'expire'
  /** Expires, found by the sweep alone. */
  | 'lapse'
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
  /** Pays, says no to mail, writes to the house and cancels: each word comes several times, and in any order. */
  | 'words'
  /** Books; then the house launches a campaign. */
  | 'campaign'
  /** Books; then a text of which nothing is heard makes room for a mail. */
  | 'silent'
  /** Books; then the house asks for a mail before each arrival. */
  | 'dated'
  /** Books while the clock asks for a kind. */
  | 'slot'
  /** Books and is given a room; then the clock asks. */
  | 'placed'

/** `slot` is the kind that the clock asks for: that of the case, or one that asks for it in turn. */
export type Case = { point: CrashPoint; kind: string; process: Kind; story: Story; slot?: string }

const outside = ['job.claimed', 'effect.writing', 'effect.committed', 'job.completing', 'job.committed'] as const
const inDatabase = ['job.claimed', 'job.completing', 'job.committed'] as const
const ofPart = ['part.writing', 'part.committed'] as const
const aroundCall = ['call.started', 'call.answered'] as const
const ofRelay = ['relay.picked', 'relay.added', 'relay.committed'] as const
const ofScheduler = ['scheduler.firing', 'scheduler.fired'] as const
const ofApi = ['api.writing', 'api.committed'] as const

const every = (points: readonly CrashPoint[], process: Kind, kinds: Readonly<Record<string, Story>>): Case[] =>
  Object.entries(kinds).flatMap(([kind, story]) => points.map((point) => ({ point, kind, process, story })))

/** Whose own transaction is only the one that ends them: they read Redis, or go through a house in transactions of its tenant. */
const endsOnly = ['maintenance.flush-last-seen', 'inventory.recount']

/** The commits of a kind, by the style of its processor. */
const commitsOf = (kind: string): readonly CrashPoint[] => {
  const style = processors.find((each) => each.job.name === kind)?.style
  if (style === undefined) throw new Error(`no processor for ${kind}`)
  return style === 'database' || endsOnly.includes(kind) ? inDatabase : outside
}

const bySlot = (kind: string, slot: string, points = commitsOf(kind), story: Story = 'slot'): Case[] =>
  points.map((point) => ({ point, kind, process: 'worker', story, slot }))

/** Every commit and every call of every kind of job that a booking leads to, or that the clock asks for, one by one. */
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
  ...every(outside, 'worker', {
    'messages.expand-campaign': 'campaign',
    'messages.plan-automation': 'dated',
  }),
  ...every(outside, 'worker', { 'messages.deliver': 'campaign' }),
  ...every(outside, 'worker', { 'messages.deliver': 'silent' }),
  ...every(inDatabase, 'worker', {
    'payments.process-callback': 'book',
    'inventory.confirm-paid': 'book',
    'inventory.assign': 'book',
    'inventory.expire-hold': 'expire',
    'ledger.post': 'book',
    'messages.trigger': 'book',
    'messages.process-callback': 'words',
    'messages.fall-back': 'silent',
  }),
  ...schedules.flatMap(({ job }) => bySlot(job.name, job.name)),
  ...bySlot('inventory.recount', 'maintenance.request-recounts'),
  ...bySlot('inventory.repack', 'maintenance.request-repacks', inDatabase, 'placed'),
  ...bySlot('ledger.check-integrity', 'ledger.sweep-integrity'),
  // One that goes through tenants where the story leaves something in one.
  ...every(ofPart, 'worker', { 'payments.sweep': 'unread', 'inventory.sweep-holds': 'lapse' }),
  ...bySlot('inventory.recount', 'maintenance.request-recounts', ofPart),
  ...bySlot('inventory.repack', 'maintenance.request-repacks', ofPart, 'placed'),
  ...every(aroundCall, 'worker', { send: 'campaign' }),
  ...every(aroundCall, 'worker', { send: 'silent' }),
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

/** The stories that begin in a house that writes more than others, and only then wait for a process to die. */
export const isOfLetters = (story: Story): story is 'campaign' | 'silent' | 'dated' =>
  story === 'campaign' || story === 'silent' || story === 'dated'

/** Those of which a part of the name or the story is said, separated by commas; all where nothing is. */
export const chosenOf = (parts: string): Case[] => {
  const wanted = parts.split(',').filter(Boolean)
  return cases.filter(
    (one) => wanted.length === 0 || wanted.some((part) => `${nameOf(one)} ${one.story}`.includes(part)),
  )
}

/**
 * Cases that go together, in their order: of each kind one. Who died under a job is missed after a while only, and until then the clock asks
 * for no other of its kind.
 */
export const batchesOf = (chosen: readonly Case[], most: number): Case[][] => {
  const batches: Case[][] = []
  for (const one of chosen) {
    const room = batches.find((batch) => batch.length < most && !batch.some((other) => other.kind === one.kind))
    if (room) room.push(one)
    else batches.push([one])
  }
  return batches
}

/** The time for which a job of a kind may be with a process that died: BullMQ's lock, two of its looks, and a start. */
export const missedWithinMs = (kind: string): number =>
  missedAfterMs(processors.find((each) => each.job.name === kind)?.job.queue ?? 'ledger')
