/** The rows behind the queues: how jobs are claimed, retried, paused and shown. Other modules and the edges import this file alone. */
export { listActs } from './acts.ts'
export { bringForward } from './bring-forward.ts'
export { completeJob } from './complete.ts'
export { filling, leadQueue, lookForWork, markDispatched, walkIndexes, windowOf } from './dispatch.ts'
export type { Candidate, Look, Pick, Work } from './dispatch.ts'
export { beginCall, endCall, kindsOfCall, purgeCalls, settleCalls } from './external-calls.ts'
export type { CallKey, CallState, OverCall } from './external-calls.ts'
export { pausePoisoned, putBack, recordDeath, recordFailure, recordSkip } from './fail.ts'
export type { KeptError } from './fail.ts'
export { pickFair } from './fair.ts'
export { FenceLost, claim, lockClaimed, lockFence, lockStart, lostStarts, mustOwn } from './fence.ts'
export type { Fence, JobStart, Locked, Lost } from './fence.ts'
export {
  credentialsRefused,
  gateSeen,
  isProbeDue,
  kindGate,
  listGates,
  mayPass,
  openGate,
  pausedIn,
  releaseProbe,
  reportCall,
} from './gates.ts'
export type { Gate, GateSeen, GateSign } from './gates.ts'
export { checkNames, checksOf, readHealth, statusOf } from './health.ts'
export type { Check, CheckName } from './health.ts'
export { beat, endBeat } from './heartbeat.ts'
export type { Beat } from './heartbeat.ts'
export type { HistoryEntry } from './history.ts'
export { jobStatuses, listJobs, mostCounted } from './list.ts'
export type { JobFilter } from './list.ts'
export {
  closedGates,
  listUnresolvedCalls,
  liveConcurrency,
  liveProcesses,
  pauses,
  scheduleStates,
  unresolvedCalls,
} from './observe.ts'
export { discardJobs, previewReplay, replayJobs, rollPartitions } from './operate.ts'
export type { Selection } from './operate.ts'
export {
  backlogByTenant,
  callsOfLastHour,
  deadGroups,
  lastHour,
  listProcesses,
  listSchedules,
  queueStates,
} from './overview.ts'
export type { Minute, QueueState, ScheduleRow } from './overview.ts'
export {
  limitGate,
  listPauses,
  pauseProvider,
  pauseQueue,
  reopenGate,
  resumeProvider,
  resumeQueue,
  takeBackPaused,
} from './pauses.ts'
export type { Pause, Scope } from './pauses.ts'
export { nextWait } from './rules/retry.ts'
export { unfinished, beginEpoch, dispatchAgain, overdue, renewLeases } from './recovery.ts'
export type { Overdue } from './recovery.ts'
export { countMiss, declareSchedules, fireDue } from './schedules.ts'
export { takeAlong } from './take-along.ts'
export { eventsOfRequest, readTimeline } from './timeline.ts'
export { listTransactions } from './transactions.ts'
export type { EventRecord, JobRecord, Timeline } from './timeline.ts'
export { subjectsOf } from './subjects.ts'
export { addTallies, totals } from './totals.ts'
export type { Tally } from './totals.ts'
export { heldByGates, whyWaits } from './waiting.ts'
export type { WaitCause } from './waiting.ts'
