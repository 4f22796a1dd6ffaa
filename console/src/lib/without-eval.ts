import { config } from 'zod';

// The policy of the page forbids making code of text, and zod would try.
config({ jitless: true });
