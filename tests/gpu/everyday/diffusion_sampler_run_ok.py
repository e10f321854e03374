"""Euler sampler of a diffusion model: the step is captured at the first timestep and replayed for all."""
import torch

torch.manual_seed(0)
torch.set_grad_enabled(False)
denoiser = torch.nn.Sequential(torch.nn.Linear(257, 512), torch.nn.SiLU(), torch.nn.Linear(512, 256)).cuda().eval()
SIGMAS = [14.6, 9.0, 5.2, 2.9, 1.5, 0.7, 0.3, 0.1, 0.0]


def step(x, sigma, sigma_next):
    column = torch.zeros_like(x[:, :1]) + sigma
    denoised = x - denoiser(torch.cat([x, column], -1)) * 0.1 * sigma
    return x + (x - denoised) / sigma * (sigma_next - sigma)


class GraphedStep:
    def __init__(self):
        self.graph = None

    def __call__(self, x, sigma, sigma_next):
        if self.graph is None:
            self.x = x.clone()
            self.sigma = torch.tensor(sigma, device="cuda")
            self.sigma_next = torch.tensor(sigma_next, device="cuda")
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                step(self.x, sigma, sigma_next)
            torch.cuda.current_stream().wait_stream(side)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.out = step(self.x, self.sigma, self.sigma_next)
        self.x.copy_(x)
        self.sigma.fill_(sigma), self.sigma_next.fill_(sigma_next)
        self.graph.replay()
        return self.out.clone()


def sample(stepper, noise):
    x = noise * SIGMAS[0]
    for sigma, sigma_next in zip(SIGMAS, SIGMAS[1:]):
        x = stepper(x, sigma, sigma_next)
    return x


noise = torch.randn(8, 256, device="cuda")
want, got = sample(step, noise), sample(GraphedStep(), noise)
error = ((got - want).norm() / want.norm()).item()
print("relative difference to eager: %.4f" % error)
print("right" if error < 1e-2 else "WRONG")
