/** The ledger's front door: what other modules may call, each with the open transaction. */
export { bookDocument, sealBookDocuments } from './book-document.ts'
export { accountFor, defaultBook, provisionBook } from './book.ts'
export { bookFor, listBalances, readChart } from './chart.ts'
export { carryOutIntegrityRun, registerCheck } from './checks.ts'
export {
  assertOpen,
  businessDay,
  firstOpenDay,
  lockDayForRoll,
  openBusinessDay,
  rollBusinessDay,
  zoneOfBook,
} from './days.ts'
export { listEntries, readEntry } from './journal.ts'
export { findWords } from './words.ts'
export type { Posting, PostingContext, PostingItem, PostingPayload } from './rules/payload.ts'
export { createAccountBeside } from './beside.ts'
export { judgeLines, refuseProblems } from './line-check.ts'
export type { LineProblem } from './line-check.ts'
export { raiseDocumentPostings, raisePostings } from './raise-many.ts'
export type { DayPosting, DocumentPosting, PropertyPosting } from './raise-many.ts'
export { postingEventOf, raisePosting } from './raise.ts'
export { requestIntegrityRuns, sweepPostings, sweepYears } from './sweeps.ts'
export { postWaiting } from './waiting.ts'
export { changeAccount } from './accounts/change.ts'
export { createAccount } from './accounts/create.ts'
export { archiveAccount, deleteAccount, restoreAccount } from './accounts/end.ts'
export { cashFlows, readAccount, readAccountNow } from './accounts/read.ts'
export { importChart } from './chart-import.ts'
export { assignProperty, changeBook, createBook, listBooks, readBook, setLocks } from './books.ts'
export {
  changeCostCenter,
  costCenterTotals,
  createCostCenter,
  deleteCostCenter,
  listCostCenters,
  readCostCenter,
} from './cost-centers.ts'
export {
  approveDraft,
  changeDraft,
  createDraft,
  deleteDraft,
  listDrafts,
  lockDraftForFiles,
  readDraft,
  rejectDraft,
  submitDraft,
  warningsOf,
} from './drafts.ts'
export { deleteExchangeRate, listExchangeRates, readExchangeRate, setExchangeRates } from './exchange-rates.ts'
export { askForChecks, readChecks } from './integrity.ts'
export { changeJournal, createJournal, listJournals, readJournal } from './journals.ts'
export { listAccountLines, searchLines } from './lines.ts'
export { postManualEntry, tryManualEntry } from './manual-entries.ts'
export { reverseEntry } from './reversals.ts'
export { periodStatuses, postingStatuses, taxCodeKinds } from './models.ts'
export {
  createFiscalYear,
  isPeriodWorking,
  listBusinessDays,
  listFiscalYears,
  listPeriods,
  readBusinessDay,
  readFiscalYear,
  readPeriod,
} from './periods.ts'
export { dismissPostingEvent, listPostingEvents, readPostingEvent, retryPostingEvents } from './posting-events.ts'
export {
  createPostingRule,
  endPostingRule,
  listBusinessEvents,
  listPostingRules,
  readPostingRule,
  simulatePosting,
} from './posting-rules.ts'
export { addTaxRate, changeTaxCode, createTaxCode, listTaxCodes, readTaxCode } from './tax-codes.ts'
export { assessTaxes, carryOutAssessment, listAssessments, registerTaxDrafts } from './assessments.ts'
export type { AssessedTax } from './assessments.ts'
export { registerChecklist } from './checklist.ts'
export type { ItemDeclaration } from './checklist.ts'
export { closePeriod, reopenPeriod, softClosePeriod } from './closing.ts'
export { registerControl } from './controls.ts'
export type { ControlDeclaration } from './controls.ts'
export { sealNext } from './seals.ts'
export { carryOutYearClose, closeFiscalYear, reopenFiscalYear } from './year-end.ts'
export { tickBooks } from './due.ts'
export { runDue } from './run-due.ts'
export { cancelAccrual, createAccrual, listAccruals, readAccrual } from './accruals.ts'
export { approveBudget, createBudget, deleteBudget, listBudgets, readBudget } from './budgets.ts'
export { listBudgetLines, setBudgetLines } from './budget-lines.ts'
export {
  applyTemplate,
  changeTemplate,
  createTemplate,
  listTemplates,
  pauseTemplate,
  readTemplate,
  removeTemplate,
  resumeTemplate,
  runsOf,
} from './templates.ts'
export { registerDaily } from './due.ts'
export { entryFilesToErase, eraseEntryFiles } from './retention.ts'
