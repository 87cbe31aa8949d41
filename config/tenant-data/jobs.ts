import { inner, staying } from './table.ts'

export const jobsData = [
  ...inner('work of the service', 'jobs', 'job_archive', 'external_call'),
  ...staying(
    'says what this installation may do now',
    inner('work of the service', 'queue_control', 'provider_gate', 'relay_turn'),
  ),
  ...inner('replies that were given', 'kept_reply'),
]
