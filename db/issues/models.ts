import type { Targets } from '../../config/issues.ts'
import type { LocalText } from '../../config/local-text.ts'
import type { Actor } from '../lib/connection.ts'
import { model } from '../lib/models.ts'

export const IssueCategory = model<'issue_category', { name: LocalText; targets: Targets }>('issue_category')
export const Issue = model<'issue', { createdBy: Actor }>('issue')
export const IssueComment = model('issue_comment')
export const IssueEvent = model<'issue_event', { changes: string[]; actor: Actor }>('issue_event')
export const Compensation = model<'compensation', { proposedByActor: Actor }>('compensation')
export const LostItem = model<'lost_item', { createdBy: Actor }>('lost_item')
