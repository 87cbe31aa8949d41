import { inner, rows, sealed } from './table.ts'

export const issuesData = [
  ...rows('issue_category'),
  sealed('issue', {
    sealed: { purpose: 'issue' },
    resolution_sealed: { purpose: 'resolution' },
    score_sealed: { purpose: 'score' },
  }),
  sealed('issue_comment', { sealed: { purpose: 'comment' } }),
  sealed('issue_event', { sealed: { purpose: 'reason' } }),
  sealed('compensation', { sealed: { purpose: 'compensation' }, decision_sealed: { purpose: 'decision' } }),
  sealed('lost_item', { sealed: { purpose: 'item' }, close_sealed: { purpose: 'hand_over' } }),
  ...inner('the last number that was given', 'issue_number'),
  ...inner('the words of a mail that was sent', 'issue_notice'),
]
