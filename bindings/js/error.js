/** What went wrong; `status` is one of ferry_status's names. */
export class FerryError extends Error {
    constructor(status, message) {
        super(message);
        this.name = "FerryError";
        this.status = status;
    }
}
