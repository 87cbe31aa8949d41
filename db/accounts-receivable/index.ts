/** What others owe the house: customers and what they are billed. Other modules and the edges import this file alone. */
export { moveAmounts, lockReceivables } from './state.ts'
export { dunningMessages } from './dunning/messages.ts'
export { listNotices, listRuns, readRun } from './dunning/read.ts'
export { beginRun, booksToDun, endRun, previewDunning, startDue, startDunning, writeNotices } from './dunning/runs.ts'
export {
  answerFiscal,
  beginCancel,
  beginRead,
  beginSend,
  fiscalDue,
  noteNotSent,
  requestReads,
} from './fiscal/calls.ts'
export type { AuthorityWord, CallAnswer, FiscalCall } from './fiscal/calls.ts'
export { cancelFiscal, createFiscalDocument, makeRequested, requestFiscal, retryFiscal } from './fiscal/commands.ts'
export { fiscalSorts, listFiscal, readFiscalDocument, rpsNumbers, statusOfFiscal } from './fiscal/read.ts'
export type { FiscalListed, FiscalShown } from './fiscal/read.ts'
export { numberedKinds, readSettings, setSettings } from './settings/settings.ts'
export { invoiceMessages } from './sending/messages.ts'
export { registerPixCharges } from './sending/pix.ts'
export { handOver, sendReceivable } from './sending/send.ts'
