"""Two operations that PyTorch has, made fast on a CPU: together they are most of what a small model's training costs."""
import torch


class SmoothedCrossEntropy(torch.autograd.Function):
    """Mean cross-entropy of softmax(states·Wᵀ) with label smoothing (Szegedy et al. 2016, section 7), for states [N, D],
    W [V, D], labels [N]. Rows go in blocks, so that logits stay in the cache; gradients come with the loss:

        dL/dlogits = (softmax(logits) - smoothing/V - (1 - smoothing)·onehot(label)) / N
    """

    ROWS = 256

    @staticmethod
    def forward(ctx, states, W, labels, smoothing, dtype):
        N, V = len(states), len(W)
        grad_states, grad_W = torch.empty_like(states), torch.zeros_like(W)
        low, mean = W.to(dtype), W.mean(0)
        loss = torch.zeros((), device=states.device)
        for begin in range(0, N, SmoothedCrossEntropy.ROWS):
            x, y = states[begin: begin + SmoothedCrossEntropy.ROWS], labels[begin: begin + SmoothedCrossEntropy.ROWS, None]
            logits = (x.to(dtype) @ low.T).float()
            chosen = logits.gather(1, y)
            p = torch.softmax(logits, 1)
            normalizer = chosen - p.gather(1, y).clamp(min=1e-30).log()
            loss += (normalizer - (1 - smoothing) * chosen - smoothing * (x @ mean)[:, None]).sum()
            p -= smoothing / V
            p.scatter_add_(1, y, torch.full_like(chosen, smoothing - 1))
            p = p.to(dtype)
            grad_states[begin: begin + SmoothedCrossEntropy.ROWS] = p @ low
            grad_W += p.T @ x.to(dtype)
        ctx.save_for_backward(grad_states / N, grad_W / N)
        return loss / N

    @staticmethod
    def backward(ctx, grad):
        grad_states, grad_W = ctx.saved_tensors
        return grad * grad_states, grad * grad_W, None, None, None


class Dropout(torch.nn.Module):
    """Dropout (Srivastava et al. 2014) whose rate is a multiple of 1/256: one random byte decides."""

    def __init__(self, rate):
        super().__init__()
        self.dropped = round(256 * rate)

    def forward(self, x):
        if not self.training or self.dropped == 0:
            return x
        words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64, device=x.device)
        bytes_ = words.random_(-2**63, None).view(torch.uint8)[: x.numel()].view(x.shape)
        return x * ((bytes_ >= self.dropped) * (256 / (256 - self.dropped)))
