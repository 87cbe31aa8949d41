/** Issues with their clocks, compensations, and lost property. Other modules and the edges import this file alone. */
export { changeCategory, createCategory, listCategories, readCategory } from './categories.ts'
export { changeIssue } from './change.ts'
export { addComment, hearGuest } from './comments.ts'
export {
  approveCompensation,
  listCompensations,
  proposeCompensation,
  readCompensation,
  rejectCompensation,
} from './compensations.ts'
export { createIssue } from './create.ts'
export { issueSorts, listIssues } from './list.ts'
export { itemSorts, listItems, readItem } from './lost-item-list.ts'
export type { ItemShown } from './lost-item-list.ts'
export { changeItem, closeItem, registerItem } from './lost-items.ts'
export { closeIssue, escalateIssue, pauseIssue, reopenIssue, resolveIssue, startIssue } from './moves.ts'
export { provisionIssues } from './provision.ts'
export { readIssue } from './read.ts'
export type { IssueDetail, IssueShown } from './read.ts'
export { answerSatisfaction } from './satisfaction.ts'
export { readIssueInSight, requireIssueSight } from './see.ts'
export { readSummary } from './summary.ts'
export {
  checkClocks,
  closableIssues,
  closeResolved,
  dueIssues,
  erasableIssues,
  erasableItems,
  eraseIssues,
  eraseItems,
  flagItem,
  flaggableItems,
  removeFilesOf,
} from './sweeps.ts'
export {
  endFromEvent,
  endGone,
  endSettled,
  goneJobs,
  openForJobs,
  openFromEvent,
  settledStays,
  untoldJobs,
} from './system.ts'
